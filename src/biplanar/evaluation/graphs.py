"""Enhanced graphs: ELAS and EULAS of the IWPT shared tasks, and how well each kind of enhancement is found.

Empty nodes are collapsed into paths first, as in the shared tasks; `udtools` is the reference in the tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from biplanar.data.graph import STEP
from biplanar.data.tree import Tree
from biplanar.evaluation.alignment import ROOT, Alignment, SpannedText
from biplanar.evaluation.score import Score

# What an arc of a graph is for: it is in the tree, with the same relation or one that tells more, or it is not.
ENHANCEMENTS = ("tree", "lemma or case", "coordination", "control", "relative clause", "gapping", "other")

# What scores an arc counts for, and what is compared there: of its head, its dependent, its relation and the tree.
Keys = Callable[[int, int, str, Tree], list[tuple[str, str]]]


def graph_scores(alignment: Alignment) -> dict[str, Score]:
    """ELAS counts arcs with the same relation, EULAS those with the same one but for its subtypes."""
    return _scores(alignment, ("ELAS", "EULAS"), lambda _head, _word, relation, _tree: _compared(relation))


def enhancement_scores(alignment: Alignment) -> dict[str, Score]:
    """ELAS for each kind of enhancement; an arc is of a kind by the tree of the same text."""
    scores = _scores(alignment, ENHANCEMENTS, lambda *arc: [(enhancement(*arc), arc[2])])
    return {kind: score for kind, score in scores.items() if score.gold or score.system}


def _scores(alignment: Alignment, names: tuple[str, ...], keys: Keys) -> dict[str, Score]:
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
