"""Harbor's bidders in other apps: they hear messages there, and answer in words."""
