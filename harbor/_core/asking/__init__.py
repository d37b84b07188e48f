"""Asks and answers: action spaces, amounts, bundles, decisions."""
