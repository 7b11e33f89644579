"""Pictures of a run: their data (`data`, `jobs`), and drawing with matplotlib (`plot`) or as SVG (`svg`)."""
