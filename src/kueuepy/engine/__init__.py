"""What the core tells, by name: the views that every room above reads it through."""
