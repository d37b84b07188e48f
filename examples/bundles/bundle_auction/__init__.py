"""A sealed auction of bundles: each bidder asks for a set of items, and pays its bid if it wins.

`rules` has the settings, the events and the rules. `winners` finds the bids with the highest sum, with HiGHS. `game`
defines the bidders' view, their play and the measures. `pip install .`, then `harbor auction auction.toml`. `pytest`
checks it.
"""
