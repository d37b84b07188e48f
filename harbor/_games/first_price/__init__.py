"""The first-price sealed-bid auction."""
