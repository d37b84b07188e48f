"""Findings as tables, with their frames and formats."""
