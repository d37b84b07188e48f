"""A bidder's view of an auction, and its memories of earlier auctions."""
