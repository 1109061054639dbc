# The folder mirrors `biplanar.encodings`; nothing here is imported as `encodings`.
# ruff: noqa: A005
