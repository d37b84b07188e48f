"""One auction: the log as each bidder sees it, the auctioneer, people who play."""
