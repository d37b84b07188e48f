"""The audit of secrecy: a game is held again with one secret changed, and others must be told exactly the same."""
