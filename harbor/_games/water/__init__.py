"""The Water Allocation Challenge."""
