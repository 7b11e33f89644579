"""The tools of `kueuepy mcp`: questions of AI agents about a cluster, answered over the Model Context Protocol."""
