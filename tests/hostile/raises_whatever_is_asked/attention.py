"""Has a module whose every attribute raises, the one the grader looks for first of all."""


def __getattr__(name):
    raise GeneratorExit(name)
