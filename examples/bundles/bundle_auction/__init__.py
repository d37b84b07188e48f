"""A sealed auction of bundles: each bidder asks for a set of items, and pays what it bid if it wins.

`rules` has the settings, the events and the rules, `winners` finds with HiGHS the bids that bring most together, and
`game` says what bidders see, how they play and how a log is measured. `pip install .`, then `harbor auction
auction.toml`. `pytest` checks it.
"""
