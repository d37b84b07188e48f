"""The log: events, thoughts, acts, and the lines they are written in."""
