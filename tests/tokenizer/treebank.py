"""A small treebank of hand-written sentences with multiword tokens, for a tokenizer to learn from."""

from __future__ import annotations

from biplanar.data.conllu import Sentence, parse_conllu
from biplanar.data.raw_text import token_text

# Words with their tags; `+` joins the words of a multiword token, whose own form comes first; `^` joins a token to the
# one before it without a space.
TREEBANK = """
A/DET gata/NOUN dorme/VERB na=em/ADP+a/DET cama/NOUN ^./PUNCT
O/DET menino/NOUN gosta/VERB do=de/ADP+o/DET mar/NOUN ^./PUNCT
A/DET avó/NOUN mora/VERB no=em/ADP+o/DET campo/NOUN ^,/PUNCT perto/ADV do=de/ADP+o/DET rio/NOUN ^./PUNCT
Quem/PRON canta/VERB na=em/ADP+a/DET rua/NOUN ^?/PUNCT
Ninguém/PRON canta/VERB ^!/PUNCT
O/DET gato/NOUN da=de/ADP+a/DET Maria/PROPN come/VERB peixe/NOUN ^,/PUNCT pão/NOUN e/CCONJ queijo/NOUN ^./PUNCT
Depois/ADV ^,/PUNCT o/DET gato/NOUN dorme/VERB ^./PUNCT
O/DET Sr./NOUN Costa/PROPN vive/VERB em/ADP Lisboa/PROPN ^./PUNCT
Ela/PRON comprou/VERB três/NUM livros/NOUN na=em/ADP+a/DET loja/NOUN ^./PUNCT
A/DET Ana/PROPN disse/VERB ^:/PUNCT "/PUNCT ^Vou/VERB ao=a/ADP+o/DET mercado/NOUN ^"/PUNCT ^./PUNCT
Chove/VERB muito/ADV no=em/ADP+o/DET norte/NOUN ^./PUNCT
O/DET comboio/NOUN (/PUNCT ^o/DET azul/ADJ ^)/PUNCT parte/VERB ao=a/ADP+o/DET meio-dia/NOUN ^./PUNCT
Que/DET dia/NOUN bonito/ADJ ^!/PUNCT
Queres/VERB chá/NOUN ou/CCONJ café/NOUN ^?/PUNCT
A/DET água/NOUN da=de/ADP+a/DET fonte/NOUN é/AUX fria/ADJ ^./PUNCT
Os/DET livros/NOUN da=de/ADP+a/DET Ana/PROPN estão/AUX na=em/ADP+a/DET mesa/NOUN ^./PUNCT
O/DET pai/NOUN do=de/ADP+o/DET menino/NOUN lê/VERB o/DET jornal/NOUN ^./PUNCT
Onde/ADV está/AUX o/DET cão/NOUN ^?/PUNCT
O/DET cão/NOUN está/AUX no=em/ADP+o/DET jardim/NOUN ^./PUNCT
Na=Em/ADP+a/DET praia/NOUN ^,/PUNCT o/DET mar/NOUN é/AUX azul/ADJ ^./PUNCT
Do=De/ADP+o/DET rio/NOUN vem/VERB água/NOUN fria/ADJ ^./PUNCT
Canta/VERB ^,/PUNCT canta/VERB ^,/PUNCT disse/VERB a/DET avó/NOUN ^./PUNCT
O/DET mercado/NOUN de/ADP Lisboa/PROPN abre/VERB cedo/ADV ^./PUNCT
Três/NUM meninos/NOUN comem/VERB pão/NOUN no=em/ADP+o/DET jardim/NOUN ^./PUNCT
"""


def sentence_of(line: str, number: int) -> Sentence:
    tokens = line.split()
    text, rows, words = "", [f"# sent_id = {number}"], 0
    for token, following in zip(tokens, [*tokens[1:], "^"], strict=True):
        misc = "SpaceAfter=No" if following.startswith("^") and following != "^" else "_"
        form, _, parts = token.removeprefix("^").rpartition("=")
        tagged = [part.rsplit("/", 1) for part in parts.split("+")]
        text += (form or tagged[0][0]) + " " * (misc == "_")
        if form:
            rows.append("\t".join([f"{words + 1}-{words + len(tagged)}", form, *"_______", misc]))
        for word, upos in tagged:
            words += 1
            rows.append("\t".join([str(words), word, word.lower(), upos, *"_____", "_" if form else misc]))
    rows.insert(1, f"# text = {text.rstrip()}")
    return parse_conllu("\n".join([*rows, "", ""]))[0]


SENTENCES = [sentence_of(line, number) for number, line in enumerate(TREEBANK.strip().split("\n"), 1)]
PARAGRAPH = "".join(map(token_text, SENTENCES)).strip()


def rows(sentences: list[Sentence]) -> list[list[str]]:
    """IDs, forms and MISC of all tokens and words, which is what a tokenizer decides."""
    lines = [[line.split("\t") for line in sentence.raw.split("\n") if "\t" in line] for sentence in sentences]
    return [["\t".join([*columns[:2], columns[9]]) for columns in sentence] for sentence in lines]


def forms(sentences: list[Sentence]) -> list[list[str]]:
    return [sentence.forms for sentence in sentences]
