"""Runs of the trials of an experiment: their folder, executors, budget, and resuming after an interruption."""
