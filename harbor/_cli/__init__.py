"""The commands of the shell, by what they are about; frameworks are imported inside them."""
