"""Catalog texts, prices and, apart from them, labels."""
