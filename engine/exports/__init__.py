"""Results for other systems: one small module per format, all of them made from the gradebook.

A score leaves only when it is final: what is withheld or waits for a person is left out and said, never a zero.
"""
