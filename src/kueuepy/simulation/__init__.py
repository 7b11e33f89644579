"""Jobs meet a configuration in virtual time: what comes of them is tables, figures and comparisons of policies."""
