"""The models that people install: recipes, how they are made, and their packages.

| | |
|---|---|
| `recipes/` | what each model is made of, a file a language; `steps/` has the steps that several share |
| `make` | from treebanks to packages |
| `score` | scores of what ships |
| `packages/` | a Python package a language, without English, which is in the base package |
| `crossing_sentences`, `free_texts` | further English to learn from |
"""
