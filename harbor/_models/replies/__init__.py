"""Replies of models that are kept: in a run, for the run that goes on with it, and in the cache, for any other."""
