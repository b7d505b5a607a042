"""For those who write exercises: files to begin with, which run and say what is to be filled in."""
