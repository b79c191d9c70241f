"""`python -m kinodyn`: the command line without the installed script."""

from kinodyn.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
