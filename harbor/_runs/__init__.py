"""From settings to a finished run, in memory or in a folder."""
