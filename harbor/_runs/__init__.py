"""Makes a finished run from settings, in memory or in a folder."""
