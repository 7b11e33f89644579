"""Analyses that run many simulations or searches: policy sweeps, planning, estimates, targets and proofs."""
