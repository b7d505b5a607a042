"""The pages people open: report/index.html for a class, a page for each submission; no server, no network."""
