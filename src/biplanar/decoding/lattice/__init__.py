"""The search over labels that move stacks: states, pairs of labels, paths through the states, and trees."""
