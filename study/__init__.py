"""The experiments behind the figures of the docs: the paper repeated, and a biaffine parser to compare with."""
