"""Reports: what an experiment found, as one HTML page, as tables for other programs, and as frames for pandas."""
