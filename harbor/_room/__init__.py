"""The auction as an AutoGen group chat whose manager is the auctioneer. Nothing else imports AutoGen.

AutoGen is in maintenance mode. Therefore its version is pinned, and the auction loop does not depend on it.
"""
