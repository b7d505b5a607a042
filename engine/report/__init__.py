"""The page people open: report/index.html, one file, no network."""
