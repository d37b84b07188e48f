"""Errors, money, seeds, actions, redaction and event loops: the base of all other modules."""
