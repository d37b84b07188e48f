"""Output on a terminal."""
