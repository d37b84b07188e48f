"""Errors, money, seeds, actions, redaction and event loops: the words that everything else uses."""
