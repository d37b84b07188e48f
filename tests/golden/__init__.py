"""A golden set of games: decisions, counts, words and pages from before the change of the log's schema."""
