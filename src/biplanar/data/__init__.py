"""The values: trees, forests, CoNLL-U as objects and as bytes, files."""
