"""A cluster of the user: its recorded history, and how far the decisions of kueuepy agree with it."""
