"""Right implementations written by hand, one file per file of checks."""
