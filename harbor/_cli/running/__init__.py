"""Commands that run, resume and check auctions and experiments."""
