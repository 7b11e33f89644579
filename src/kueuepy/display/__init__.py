"""Pictures for notebooks: HTML of what the other rooms hold."""
