"""Charts of a simulation: their data (`shown`, `data`, `jobs`), and renderers for matplotlib, altair and plain SVG."""
