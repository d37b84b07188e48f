"""The English auction with private values."""
