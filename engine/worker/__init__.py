"""The untrusted side: the only code of ours that shares a process with a student's.

Nothing here imports the reference, the checks or Hypothesis: what was never in
the worker's memory cannot be stolen from it.
"""
