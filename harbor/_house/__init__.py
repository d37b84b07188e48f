"""Runs one auction: the auctioneer, each bidder's view of the log, people as bidders."""
