"""The page of an experiment, its verdict, and its view in a notebook."""
