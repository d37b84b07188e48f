"""The second-price sealed-bid auction."""
