"""Reading and writing YAML and JSON, with the positions of all values."""
