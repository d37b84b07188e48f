"""The personas, and the houses that suit them."""
