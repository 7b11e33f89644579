"""Pictures of a run: what is shown (`shown`, `data`), and how matplotlib, altair and plain SVG show it."""
