"""The wrong answers students really give, as code, so that a failure can be called by its name."""
