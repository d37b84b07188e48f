"""Experiments and runs side by side."""
