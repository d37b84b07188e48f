"""How a bidder plays the games of days and runs: water, sealed bids, private values, the beauty contest."""
