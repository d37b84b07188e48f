"""Reports: the findings of an experiment as one HTML page, as files for other programs, and as pandas frames."""
