"""`python -m biplanar` is the command `biplanar`."""

from biplanar.cli import main

main()
