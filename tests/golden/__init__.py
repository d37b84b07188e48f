"""A golden set of games: what was decided, counted, told and shown before the schema of the log changed."""
