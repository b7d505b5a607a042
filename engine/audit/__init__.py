"""HOW GOOD THE CHECKS ARE: wrong implementations they must catch, right ones they must accept."""
