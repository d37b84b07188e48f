"""Nodes of a bidder; each file has the nodes of one task."""
