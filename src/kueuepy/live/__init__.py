"""Recordings of real clusters, and the agreement of kueuepy's decisions with them."""
