"""Runs one auction: the part of the log that each bidder sees, the auctioneer, and people as bidders."""
