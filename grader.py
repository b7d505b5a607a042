"""Proofmark's entry point: `python grader.py COMMAND`; installed, the same is `grader COMMAND`."""

import sys

from engine.commands import main

if __name__ == "__main__":
    sys.exit(main())
