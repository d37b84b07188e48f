"""A Dutch auction: the price of each item falls until somebody accepts it."""
