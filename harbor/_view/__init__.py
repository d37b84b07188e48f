"""Pages that show a run, a series or an experiment."""
