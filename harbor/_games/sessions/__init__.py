"""Shared code of the games that are played in sessions of several runs."""
