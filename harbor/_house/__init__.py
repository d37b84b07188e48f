"""Runs one auction: what each bidder sees of the log, the auctioneer, people as bidders."""
