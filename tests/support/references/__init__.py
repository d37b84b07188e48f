"""The pages generated from the code: `make references` writes them, and tests/test_references.py checks them."""
