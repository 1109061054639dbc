"""What the shared task does not measure: full relations, whole trees, and, as in the paper, non-projectivity."""

from __future__ import annotations

import numpy as np

from biplanar.data.arrays import Bools
from biplanar.data.conllu import DEPREL
from biplanar.evaluation.alignment import Alignment
from biplanar.evaluation.placed import NOWHERE, PlacedText
from biplanar.evaluation.score import Score
from biplanar.planes.crossings import nonprojective


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
    same_words = _all_words(alignment, np.ones_like(right))
    correct = _all_words(alignment, right)
    return Score(correct, len(alignment.gold.sentences), len(alignment.system.sentences), same_words)


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
    """Whether a sentence is given a non-projective tree, no matter by which arcs: the paper's Table 4.

    A sentence of the system's is compared with the gold sentence of the same stretch of text, however that is cut into
    words; one that has no such counterpart counts as wrong if it is the system's, and as missed if it is gold.
    """
    gold, system = (_is_nonprojective(text) for text in alignment.sides)
    paired = alignment.twin_sentences != NOWHERE
    wanted, found = gold[paired], system[alignment.twin_sentences[paired]]
    return Score(int((wanted & found).sum()), int(gold.sum()), int(system.sum()), int(wanted.sum()))


def _is_nonprojective(text: PlacedText) -> Bools:
    flags = nonprojective(text.forest)
    return np.bincount(text.sentence_of[flags], minlength=len(text.sentences)) > 0


def _nonprojective_dependencies(alignment: Alignment) -> Score:
    """Unlabeled non-projective arcs: the paper's Table 5.

    A non-projective arc of the system's is right if the gold tree has the same arc, between the words aligned with its
    ends, and it is non-projective there too; relations do not matter. The arc to a root may be non-projective as well.
    """
    gold, system = (nonprojective(text.forest) for text in alignment.sides)
    wanted, found = gold[alignment.gold_at], system[alignment.system_at]
    correct = int((wanted & found & alignment.right_heads).sum())
    return Score(correct, int(gold.sum()), int(system.sum()), int(wanted.sum()))
