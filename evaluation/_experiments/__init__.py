"""Experiments: arms and conditions of auctions, held again and again, measured and compared."""
