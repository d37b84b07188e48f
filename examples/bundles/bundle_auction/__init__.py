"""A sealed auction of bundles: each bidder asks for a set of items, and pays what it bid if it wins."""
