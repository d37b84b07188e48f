"""The commands of the shell, by topic; frameworks are imported inside them."""
