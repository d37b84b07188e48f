"""Facts about each model at each server, learned from its answers."""
