"""Jobs in virtual time: runs, their figures, and the comparison of policies."""
