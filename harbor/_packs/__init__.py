"""Packs: a run, a series or an experiment as one file, for its owner or for everyone."""
