"""Simulations of jobs on a cluster configuration in virtual time: tables, metrics and comparisons of policies."""
