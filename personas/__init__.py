"""Who bids and what is sold."""
