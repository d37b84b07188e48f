"""The published experiments, one TOML file each."""
