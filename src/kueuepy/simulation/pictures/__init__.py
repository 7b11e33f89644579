"""Pictures of a run: their data (`data`, `jobs`), and two ways to draw them: matplotlib (`plot`) and SVG (`svg`)."""
