"""What happened, measured from the log alone."""
