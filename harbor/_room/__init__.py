"""AutoGen carries the words: a group chat whose manager is the auctioneer. Nothing else imports AutoGen."""
