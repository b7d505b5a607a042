"""Not the real one."""

raise SystemExit("numpy.py of the submission was imported")
