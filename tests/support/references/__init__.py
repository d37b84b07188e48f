"""The pages that are made of the code: `make references` writes them, and tests/test_references.py compares them."""
