"""`python -m harbor` is the command line."""

from harbor.cli import main

main()
