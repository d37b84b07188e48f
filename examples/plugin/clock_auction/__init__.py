"""A Dutch auction: the price of each item falls until a bidder accepts it.

The package brings one value of each kind: the game (`game`, with its `rules`), a scripted policy, a thought node, a
metric, a figure, and a catalogue of cut flowers. `pyproject.toml` names them as entry points, so that Harbor finds them
once the package is installed: `pip install .`, then `harbor auction auction.toml`. `pytest` checks them all.
"""
