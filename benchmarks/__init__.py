"""Benchmarks, run from the root of the repository as modules, for example `python -m benchmarks.core`.

| module | what it measures |
|---|---|
| `core` | reading CoNLL-U, encoding and decoding, compiling, plane assignment |
| `search` | the search: speed, accuracy and calibration |
| `parsers` | whole parsers, Biplanar's and others, on one core |
| `raw_text` | the bundled model on raw text, and UDPipe 1 |
| `gpu` | parsing on a GPU, part by part |
| `engines` | reading, parsing and writing, part by part |
| `load` | the server under load |

They share `arguments` (command lines), `machine` (what they run on), `timing`, `memory`, `texts` (what is parsed) and
`output` (tables and JSON). `results/` has the numbers behind the pages in `docs/`.
"""
