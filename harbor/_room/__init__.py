"""The auction as an AutoGen group chat whose manager is the auctioneer. Nothing else imports AutoGen.

AutoGen is in maintenance mode, so it is pinned, and the auction loop does not know it.
"""
