"""The state of a running cluster, and the calls that change it."""
