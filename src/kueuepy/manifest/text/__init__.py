"""The texts of manifests: YAML and JSON read and written, with the place of every byte."""
