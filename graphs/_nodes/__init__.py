"""One node, one file, one job."""
