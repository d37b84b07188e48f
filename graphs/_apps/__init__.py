"""Harbor's bidders in other people's apps: they hear what is said there, and answer in words."""
