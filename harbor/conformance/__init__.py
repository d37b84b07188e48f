"""Conformance suites for what others write to plug into Harbor."""
