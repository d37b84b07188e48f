"""The settings of an auction, and the only home of defaults."""
