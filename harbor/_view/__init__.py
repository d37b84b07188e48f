"""Pages on which a run, a series or an experiment is looked at."""
