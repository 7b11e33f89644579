"""A running cluster: the engine, what is kept beside it, and the calls that change it."""
