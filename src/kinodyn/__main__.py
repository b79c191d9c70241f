"""`python -m kinodyn`: the command line without the installed script."""

from kinodyn.cli import main

raise SystemExit(main())
