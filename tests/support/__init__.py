"""Helpers of several test files: commands, processes and folders."""
