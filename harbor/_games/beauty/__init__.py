"""The beauty contest."""
