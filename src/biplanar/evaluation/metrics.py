"""Metrics: those of the CoNLL 2018 shared task (Zeman et al. 2018), exact relations, whole trees, non-projectivity.

Of enhanced graphs, ELAS and EULAS of the IWPT shared tasks, and how well each kind of enhancement is found: empty nodes
are collapsed into paths first. `udtools` is the reference for the metrics of shared tasks in the tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

import numpy as np

from biplanar.data.arrays import Bools, Int64s
from biplanar.data.conllu import DEPREL, FEATS, LEMMA, UPOS, XPOS
from biplanar.data.graph import STEP
from biplanar.data.tree import Tree
from biplanar.evaluation.alignment import NOWHERE, ROOT, Alignment, Score, SpannedText
from biplanar.planes.crossings import nonprojective

# fmt: off
CONTENT_RELATIONS = frozenset([
    "acl", "advcl", "advmod", "amod", "appos", "ccomp", "compound", "conj", "csubj", "dep", "discourse", "dislocated",
    "expl", "fixed", "flat", "goeswith", "iobj", "list", "nmod", "nsubj", "nummod", "obj", "obl", "orphan", "parataxis",
    "reparandum", "root", "vocative", "xcomp",
])
FUNCTION_RELATIONS = frozenset(["aux", "case", "cc", "clf", "cop", "det", "mark"])
UNIVERSAL_FEATURES = frozenset([
    "Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender", "Mood", "NumType",
    "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex", "Tense", "VerbForm", "Voice",
])
# fmt: on

# The columns beside HEAD and DEPREL that metrics compare.
COMPARED_COLUMNS = {
    "UPOS": (UPOS,),
    "XPOS": (XPOS,),
    "UFeats": (FEATS,),
    "AllTags": (UPOS, XPOS, FEATS),
    "Lemmas": (LEMMA,),
    "MLAS": (UPOS, FEATS),
    "BLEX": (LEMMA,),
}

# What an arc of a graph is for: it is in the tree, with the same relation or one that tells more, or it is not.
ENHANCEMENTS = ("tree", "lemma or case", "coordination", "control", "relative clause", "gapping", "other")

# What scores an arc counts for, and what is compared there: of its head, its dependent, its relation and the tree.
Keys = Callable[[int, int, str, Tree], list[tuple[str, str]]]


def conll18_scores(alignment: Alignment) -> dict[str, Score]:
    """All metrics of the shared task, by their official names."""
    right = right_words(alignment)
    arcs, tagged_arcs = right["LAS"], right["LAS"] & right["UPOS"] & right["UFeats"]
    gold, system = alignment.sides
    tokens = [{word[:2] for word in text.words} for text in alignment.sides]
    sentences = int((alignment.twin_sentences != NOWHERE).sum())
    return {
        "Tokens": Score(len(tokens[0] & tokens[1]), len(tokens[0]), len(tokens[1])),
        "Sentences": Score(sentences, len(gold.sentences), len(system.sentences)),
        "Words": Score(len(alignment.gold_at), len(gold.words), len(system.words)),
        **{metric: alignment.score(words) for metric, words in right.items()},
        "CLAS": _content_score(alignment, arcs),
        "MLAS": _content_score(alignment, tagged_arcs & _function_words(alignment, tagged_arcs)),
        "BLEX": _content_score(alignment, arcs & right["Lemmas"]),
    }


def right_words(alignment: Alignment) -> dict[str, Bools]:
    """For each metric that counts every word: in which pairs the system is right."""
    upos, xpos = alignment.agree_in(UPOS), alignment.agree_in(XPOS)
    feats = alignment.agree(lambda text: [_universal(feats) for feats in text.column(FEATS)])
    without_lemma = np.array([lemma == "_" for lemma in alignment.gold.column(LEMMA)], dtype=np.bool_)
    return {
        "UPOS": upos,
        "XPOS": xpos,
        "UFeats": feats,
        "AllTags": upos & xpos & feats,
        "Lemmas": alignment.agree_in(LEMMA) | without_lemma[alignment.gold_at],  # any is right if gold has none
        "UAS": alignment.right_heads,
        "LAS": alignment.right_arcs,
    }


def is_applicable(metric: str, alignment: Alignment, predicted: Collection[int] | None = None) -> bool:
    """Whether the system predicted the columns that a metric compares, as far as the gold text has values there.

    `predicted` are the columns that the system predicted; without it, those in which its text has values.
    """
    columns, has_values = COMPARED_COLUMNS.get(metric, ()), alignment.system.has_values
    missing = [one for one in columns if not (has_values(one) if predicted is None else one in predicted)]
    return not columns or (len(missing) < len(columns) and not any(map(alignment.gold.has_values, missing)))


def _content_score(alignment: Alignment, right: Bools) -> Score:
    gold, system = (_has_relation(text, CONTENT_RELATIONS) for text in alignment.sides)
    aligned = gold[alignment.gold_at]
    return Score(int((right & aligned).sum()), int(gold.sum()), int(system.sum()), int(aligned.sum()))


@lru_cache(maxsize=1 << 14)
def _universal(feats: str) -> tuple[str, ...]:
    return tuple(sorted(feat for feat in feats.split("|") if feat.partition("=")[0] in UNIVERSAL_FEATURES))


def _has_relation(text: SpannedText, relations: frozenset[str]) -> Bools:
    return np.array([relation in relations for relation in text.relations], dtype=np.bool_)


def _function_words(alignment: Alignment, right: Bools) -> Bools:
    """For every pair, whether its words have the same function words; `right` says which pairs count as the same.

    Both have as many function words, and as many pairs of function words depend on this pair and are right.
    """
    gold, system = (_has_relation(text, FUNCTION_RELATIONS) for text in alignment.sides)
    both = alignment.gold_at[right & gold[alignment.gold_at]]
    wanted = _dependents(alignment.gold, np.flatnonzero(gold))[alignment.gold_at]
    found = _dependents(alignment.system, np.flatnonzero(system))[alignment.system_at]
    shared = _dependents(alignment.gold, both)[alignment.gold_at]
    return np.asarray((wanted == found) & (wanted == shared))


def _dependents(text: SpannedText, words: Int64s) -> Int64s:
    """How many of some words depend on each word."""
    heads = text.heads[words]
    return np.bincount(heads[heads >= 0], minlength=len(text.words))


def tree_scores(alignment: Alignment) -> dict[str, Score]:
    """ExactLAS keeps the subtypes of relations; UCM and LCM ask for all heads of a sentence, and all full relations."""
    exact = alignment.right_heads & alignment.agree_in(DEPREL)
    return {
        "ExactLAS": alignment.score(exact),
        "UCM": _whole_sentences(alignment, alignment.right_heads),
        "LCM": _whole_sentences(alignment, exact),
        "NonprojectiveSentences": _nonprojective_sentences(alignment),
        "NonprojectiveDependencies": _nonprojective_dependencies(alignment),
    }


def _whole_sentences(alignment: Alignment, right: Bools) -> Score:
    """Sentences of which every word is right; they are aligned if they have the same words."""
    correct, aligned = _all_words(alignment, right), _all_words(alignment, np.ones_like(right))
    return Score(correct, len(alignment.gold.sentences), len(alignment.system.sentences), aligned)


def _all_words(alignment: Alignment, right: Bools) -> int:
    """How many sentences are the same text in both, cut into as many words, of which all are right."""
    gold, system, twins = alignment.gold, alignment.system, alignment.twin_sentences
    sentences = gold.sentence_of[alignment.gold_at]
    right = right & (twins[sentences] == system.sentence_of[alignment.system_at])
    counts = np.bincount(sentences[right], minlength=len(gold.sentences))
    paired = twins != NOWHERE
    as_long = gold.lengths[paired] == system.lengths[twins[paired]]
    return int((as_long & (counts == gold.lengths)[paired]).sum())


def _nonprojective_sentences(alignment: Alignment) -> Score:
    """Whether a sentence has a non-projective tree, no matter by which arcs: the paper's Table 4.

    A sentence of the system is compared with the gold sentence of the same offsets, however its words are cut; without
    such a counterpart it counts as wrong, and a gold sentence as missed.
    """
    forests = (text.forest for text in alignment.sides)
    gold, system = (np.logical_or.reduceat(nonprojective(forest), forest.offsets[:-1]) for forest in forests)
    paired = alignment.twin_sentences != NOWHERE
    wanted, found = gold[paired], system[alignment.twin_sentences[paired]]
    return Score(int((wanted & found).sum()), int(gold.sum()), int(system.sum()), int(wanted.sum()))


def _nonprojective_dependencies(alignment: Alignment) -> Score:
    """Unlabelled non-projective arcs: the paper's Table 5.

    A non-projective arc of the system is right if the gold tree has it between the aligned words, and it is
    non-projective there too. The arc to a root may be non-projective as well.
    """
    gold, system = (nonprojective(text.forest) for text in alignment.sides)
    wanted, found = gold[alignment.gold_at], system[alignment.system_at]
    correct = int((wanted & found & alignment.right_heads).sum())
    return Score(correct, int(gold.sum()), int(system.sum()), int(wanted.sum()))


# Enhanced graphs


def graph_scores(alignment: Alignment) -> dict[str, Score]:
    """ELAS counts arcs with the same relation, EULAS those with the same one but for its subtypes."""
    return _arc_scores(alignment, ("ELAS", "EULAS"), lambda _head, _word, relation, _tree: _compared(relation))


def enhancement_scores(alignment: Alignment) -> dict[str, Score]:
    """ELAS for each kind of enhancement; an arc is of a kind by the tree of the same text."""
    scores = _arc_scores(alignment, ENHANCEMENTS, lambda *arc: [(enhancement(*arc), arc[2])])
    return {kind: score for kind, score in scores.items() if score.gold or score.system}


def _arc_scores(alignment: Alignment, names: tuple[str, ...], keys: Keys) -> dict[str, Score]:
    """As in the official script, an arc of the system is right as often as the gold graph has its like."""
    gold, system = ([Counter(arcs) for arcs in _arcs(text, keys)] for text in alignment.sides)
    totals = [Counter(name for word in side for _, name, _ in word.elements()) for side in (gold, system)]
    gold_words = [*alignment.gold_words.tolist(), ROOT]  # the last one is that of `ROOT`, which is -1
    correct: Counter[str] = Counter()
    for g, s in zip(alignment.gold_at.tolist(), alignment.system_at.tolist(), strict=True):
        for (head, name, relation), count in system[s].items():
            correct[name] += gold[g][gold_words[head], name, relation] * count
    return {name: Score(correct[name], *(total[name] for total in totals)) for name in names}


def _arcs(text: SpannedText, keys: Keys) -> Iterator[list[tuple[int, str, str]]]:
    """For every word, the number of the head in the text and the keys of each arc."""
    for sentence, first in zip(text.sentences, text.forest.offsets.tolist(), strict=False):
        tree = sentence.tree
        graph = sentence.graph.collapsed().heads if sentence.graph else ((),) * len(sentence)
        for word, heads in enumerate(graph, 1):
            found = ((int(head), relation) for head, relation in heads)
            yield [
                (first + head - 1 if head else ROOT, *key)
                for head, relation in found
                for key in keys(head, word, relation, tree)
            ]


def _compared(relation: str) -> list[tuple[str, str]]:
    """For each metric the relation, or the relations of a path, as it is or without subtypes."""
    without_subtypes = STEP.join(step.partition(":")[0] for step in relation.split(STEP))
    return [("ELAS", relation), ("EULAS", without_subtypes)]


def enhancement(head: int, word: int, relation: str, tree: Tree) -> str:
    """What an arc of a graph is for."""
    if STEP in relation:
        return "gapping"
    if head == tree.heads[word - 1]:
        return "tree" if relation == tree.deprels[word - 1] else "lemma or case"
    if relation == "ref" or _is_antecedent(word, head, tree):
        return "relative clause"
    ends = [tree.deprels[end - 1].partition(":")[0] for end in (word, head) if end]
    if relation.endswith(":xsubj") or ("xcomp" in ends[1:] and relation.startswith("nsubj")):
        return "control"
    return "coordination" if "conj" in ends else "other"


def _is_antecedent(word: int, head: int, tree: Tree) -> bool:
    """Whether a head is inside of a clause that modifies the word."""
    while head:
        above = tree.heads[head - 1]
        if above == word:
            return tree.deprels[head - 1].startswith(("acl", "advcl:relcl"))
        head = above
    return False
