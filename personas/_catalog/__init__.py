"""Catalogues of personas and of items that suit them."""
