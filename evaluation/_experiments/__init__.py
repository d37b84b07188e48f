"""Experiments: arms and conditions of auctions, run repeatedly, measured and compared."""
