"""Prompts of a bidder's model, one file per prompt."""
