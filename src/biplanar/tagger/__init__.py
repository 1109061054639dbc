"""The neural part: from words to scores for each task's labels, and how to train it."""
