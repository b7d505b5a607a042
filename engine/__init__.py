"""HOW IT IS GRADED: start reading at pipeline.py."""
