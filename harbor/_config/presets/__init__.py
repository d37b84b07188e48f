"""Ready-made auctions as TOML."""
