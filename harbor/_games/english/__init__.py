"""The ascending (English) auction, the default game."""
