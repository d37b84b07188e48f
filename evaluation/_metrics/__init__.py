"""Metrics: a log in, a record out."""
