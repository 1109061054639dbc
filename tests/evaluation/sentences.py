"""Sentences written for these tests, as gold and as systems might parse them."""

from __future__ import annotations

from biplanar.data.conllu import Sentence, parse_conllu


def conllu(*blocks: str) -> str:
    """CoNLL-U from blocks of lines with ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD and DEPREL, or ID and FORM only."""
    return "".join(_block(block) for block in blocks)


def _block(block: str) -> str:
    rows = [line.split() for line in block.strip().splitlines()]
    return "\n".join(["\t".join([*row, *["_"] * (10 - len(row))]) for row in rows] + ["", ""])


def tree(*rows: tuple[str, int, str]) -> str:
    """One sentence from forms, heads and relations."""
    return conllu("\n".join(f"{i} {form} _ _ _ _ {head} {deprel}" for i, (form, head, deprel) in enumerate(rows, 1)))


def heads(*numbers: int) -> str:
    """One sentence of the words a, b, c, ... with these heads."""
    return tree(*(("abcdefghijklm"[at], head, "dep" if head else "root") for at, head in enumerate(numbers)))


def sentences(*texts: str) -> list[Sentence]:
    """The sentences of some CoNLL-U."""
    return parse_conllu("".join(texts))


COFFEE = conllu("""
1 She    she    PRON  PRP Case=Nom|Number=Sing|Wild=Yes 4 nsubj
2 has    have   AUX   VBZ Tense=Pres                    4 aux
3 been   be     AUX   VBN _                             4 aux:pass
4 served serve  VERB  VBN Voice=Pass                    0 root
5 cold   cold   ADJ   JJ  Degree=Pos                    6 amod
6 coffee coffee NOUN  NN  Number=Sing                   4 obj
7 .      .      PUNCT .   _                             4 punct
""")

# A label or head wrong here and there; `Wild` is no universal feature, `aux` lacks its subtype only.
COFFEE_MISREAD = conllu("""
1 She    she    PRON  PRP Case=Nom|Number=Sing|Wild=No 4 nsubj
2 has    has    AUX   VBZ Tense=Pres                   4 aux
3 been   be     VERB  VBN _                            4 aux
4 served serve  VERB  VBD Voice=Pass                   0 root
5 cold   cold   ADJ   JJ  Degree=Pos                   4 obj
6 coffee coffee NOUN  NN  Number=Plur                  5 nmod
7 .      .      PUNCT .   _                            4 punct
""")

# As a tokenizer may cut it: two sentences, two words glued, one split.
COFFEE_RECUT = conllu(
    """
1 She     she    PRON  PRP Case=Nom|Number=Sing 2 nsubj
2 hasbeen have   VERB  VBZ Tense=Pres           0 root
""",
    """
1 served  serve  VERB  VBN Voice=Pass           0 root
2 cold    cold   ADJ   JJ  Degree=Pos           4 amod
3 cof     cof    NOUN  NN  _                    4 compound
4 fee     fee    NOUN  NN  Number=Sing          1 obj
5 .       .      PUNCT .   _                    1 punct
""",
)

# A multiword token: zum is zu dem.
HOUSE = conllu("""
1   Er   er    PRON  PPER  Case=Nom 2 nsubj
2   geht gehen VERB  VVFIN _        0 root
3-4 zum
3   zu   zu    ADP   APPR  _        5 case
4   dem  der   DET   ART   Case=Dat 5 det
5   Haus Haus  NOUN  NN    Case=Dat 2 obl
6   .    .     PUNCT $.    _        2 punct
""")

# The multiword token left whole, and another where there is none.
HOUSE_RECUT = conllu("""
1   Er   er    PRON  PPER  Case=Nom 2 nsubj
2   geht gehen VERB  VVFIN _        0 root
3   zum  zu    ADP   APPR  _        4 case
4-5 Haus.
4   Haus Haus  NOUN  NN    Case=Dat 2 obl
5   .    .     PUNCT $.    _        2 punct
""")

# The arc from hearing to issue crosses the one from scheduled to today.
HEARING = tree(
    ("A", 2, "det"),
    ("hearing", 4, "nsubj:pass"),
    ("is", 4, "aux:pass"),
    ("scheduled", 0, "root"),
    ("on", 7, "case"),
    ("the", 7, "det"),
    ("issue", 2, "nmod"),
    ("today", 4, "obl:tmod"),
    (".", 4, "punct"),
)

# The same with the phrase on the verb: nothing crosses.
HEARING_PROJECTIVE = HEARING.replace("\t2\tnmod", "\t4\tobl")

# The same with one word made two.
HEARING_SPLIT = tree(
    ("A", 2, "det"),
    ("hearing", 4, "nsubj"),
    ("is", 4, "aux"),
    ("scheduled", 0, "root"),
    ("on", 7, "case"),
    ("the", 7, "det"),
    ("issue", 2, "nmod"),
    ("to", 9, "case"),
    ("day", 4, "obl"),
    (".", 4, "punct"),
)
