"""How mathematics is judged: formulas are read, given a meaning, proved, refuted or tested."""
