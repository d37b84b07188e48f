"""Commands that show results: reports, pages, ratings."""
