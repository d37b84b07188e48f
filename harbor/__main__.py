"""`python -m harbor` is the command line."""

from harbor._cli.app import main

main()
