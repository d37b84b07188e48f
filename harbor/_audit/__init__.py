"""The audit of secrecy: a game is held again with one secret changed, and whatever others are told must be equal."""
