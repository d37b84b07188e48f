"""The catalog of personas and of houses that suit them."""
