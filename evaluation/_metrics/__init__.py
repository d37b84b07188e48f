"""Metrics take a log and return measurements."""
