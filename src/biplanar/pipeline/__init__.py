"""Where the stages meet: the parser, its options, the model folder, training."""
