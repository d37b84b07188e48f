"""Prompts: their files, and the sentences in which facts are told."""
