"""The published experiments, a TOML file each."""
