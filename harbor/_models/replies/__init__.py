"""Kept replies of models: in a run folder for the resumed run, and in the cache for any other run."""
