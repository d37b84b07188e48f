"""What a bidder has observed of an auction, and what it remembers of earlier ones."""
