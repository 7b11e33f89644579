"""Pictures of a run: their list, names and colours (`catalogue`), and what each shows (`charts`)."""
