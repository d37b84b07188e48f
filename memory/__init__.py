"""What a bidder remembers."""
