"""Findings as tables, and the frames and formats they are made of."""
