"""A program that trains UDPipe's tokenizer: a job as JSON on standard input, the model on standard output.

UDPipe holds the interpreter's lock until training has ended: only in a process of its own can it be interrupted. The
program imports nothing of Biplanar, so it starts at once.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ufal import udpipe

# What the program ends with when UDPipe refuses the sentences; it then writes UDPipe's message.
REFUSED = 3


def main() -> int:
    """Train, and tell whether it worked."""
    job, error = json.load(sys.stdin.buffer), udpipe.ProcessingError()
    treebank = _sentences(job["train"]), _sentences(job["dev"])
    model = udpipe.Trainer.train("morphodita_parsito", *treebank, job["tokenizer"], job["tagger"], "none", error)
    sys.stdout.buffer.write(error.message.encode() if error.occurred() else model)
    return REFUSED if error.occurred() else 0


def _sentences(conllu: str) -> Any:
    reader, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    reader.setText(conllu)
    result, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        result.append(sentence)
    return result


if __name__ == "__main__":
    sys.exit(main())
