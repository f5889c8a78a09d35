"""`python -m knee` is `knee`."""

from knee.cli import main

main()
