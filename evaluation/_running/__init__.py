"""Holding the games of an experiment: their folder, executors, money, and going on after an interruption."""
