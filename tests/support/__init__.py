"""What several test files need: commands, processes and folders."""
