"""WHAT WE CLAIM: properties every right submission has, in files with the stems of reference/."""
