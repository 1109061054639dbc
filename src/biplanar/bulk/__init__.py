"""Whole corpora: chunks in, chunks out, and the engines that run them."""
