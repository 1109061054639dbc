"""English sentences with crossing arcs, made from patterns, for training: treebanks of English have few of them.

    python -m models.crossing_sentences crossing.conllu [--sentences 2000] [--seed 1]

Phrases and clauses that stand apart from their nouns (*A review appeared of the new film yesterday*), questions about a
word of an inner clause (*What do you think we should buy?*), prepositions apart from their questions (*Who are you
looking for?*), and like sentences in which nothing crosses, so that words and not patterns decide. Words have trees
only: no tags, no lemmas. Relations are those of UD_English-EWT 2.16.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from study.common import command

from biplanar.data.files import writing
from biplanar.data.tree import Tree

# Sentences that are shown to people, and so must not be learned by heart.
SHOWN = {
    *("A hearing is scheduled on the issue today .", "Who did you say that she saw ?", "What are you looking at ?"),
    *("Who did you talk to ?", "Who are you waiting for ?", "What is she afraid of ?", "Who is the letter from ?"),
}

ABOUT = {  # nouns that are about something, and how they say so
    "about": ("book", "film", "story", "article", "talk", "song", "play", "documentary", "rumour", "post", "novel"),
    "on": ("hearing", "report", "debate", "lecture", "vote", "paper", "conference", "ruling", "seminar", "statement"),
    "of": ("review", "discussion", "study", "survey", "translation", "photo", "description", "analysis", "summary"),
}
TOPICS = (
    *("accident", "law", "war", "election", "project", "budget", "school", "company", "issue", "matter", "city"),
    *("question", "case", "plan", "tax", "weather", "game", "subject", "merger", "crisis", "problem", "trial"),
)
DETERMINERS = ("a", "the", "this", "another", "every", "some", "that", "no")
ADJECTIVES = ("new", "old", "long", "short", "public", "interesting", "first", "final", "big", "local")
PARTICIPLES = (
    *("scheduled", "published", "issued", "released", "planned", "held", "written", "expected", "announced", "given"),
    *("made", "completed", "shown", "posted", "printed", "prepared", "produced", "read", "sent", "finished"),
)
APPEARED = ("appeared", "came", "started", "began", "followed", "opened", "happened", "ended", "arrived")
AUXILIARIES = (("is",), ("was",), ("will", "be"), ("has", "been"), ("had", "been"), ("should", "be"))
DAYS = ("today", "yesterday", "tomorrow", "tonight")
PLACES = ("London", "June", "May", "Texas", "March", "Boston", "Monday", "Friday", "Rome", "April")
PEOPLE = ("man", "woman", "girl", "boy", "student", "guest", "friend", "stranger", "child", "teacher", "doctor")
NAMES = ("John", "Mary", "Anna", "Peter", "she", "he", "they", "we", "Sarah", "people")
ASKED = ("you", "they", "we", "he", "she", "people", "John")
SAYING = ("say", "think", "believe", "know", "claim", "suppose", "hope", "expect", "hear", "feel", "guess")
DOING = ("saw", "met", "wanted", "called", "invited", "bought", "found", "chose", "liked", "needed", "loved", "hired")
TO_DO = ("see", "meet", "call", "invite", "buy", "find", "choose", "eat", "read", "visit", "hire", "tell", "write")
MODALS = ("should", "will", "could", "would", "can", "must")
KINDS = ("big", "small", "friendly", "famous", "tall", "angry", "beautiful", "rich", "strange", "loud")
THINGS = ("hat", "coat", "bag", "letter", "dog", "book", "suit", "camera", "map", "knife")
STRANDED = {  # verbs and adjectives, and the preposition that is left behind them
    "look": ("at", "for", "after"),
    "talk": ("about", "to", "with"),
    "listen": ("to",),
    "wait": ("for",),
    "live": ("in", "with"),
    "sit": ("on", "with", "in"),
    "speak": ("to", "about", "with"),
    "think": ("about", "of"),
    "care": ("about", "for"),
    "pay": ("for",),
    "work": ("for", "with", "on"),
    "depend": ("on",),
    "go": ("with", "to"),
    "write": ("to", "about", "with"),
    "dream": ("of", "about"),
    "play": ("with", "for"),
    "travel": ("with", "to"),
    "complain": ("about",),
}
INTERESTED = {
    "interested": "in",
    "proud": "of",
    "good": "at",
    "famous": "for",
    "angry": "about",
    "tired": "of",
    "ready": "for",
    "responsible": "for",
    "worried": "about",
    "afraid": "of",
    "sure": "of",
    "married": "to",
}
PARTICLE_VERBS = (
    *(("pick", "up"), ("turn", "off"), ("throw", "away"), ("find", "out"), ("give", "up"), ("bring", "back")),
    *(("take", "off"), ("put", "down"), ("look", "up"), ("point", "out"), ("send", "back"), ("leave", "out")),
)
GIFTS = ("letter", "package", "money", "cake", "song", "call", "present", "ticket", "story")
SUBJECTS = {  # with the forms of "be" and "do" that go with them
    **dict.fromkeys(("you", "they", "we", "people"), (("are", "were"), ("do", "did", "should", "can"))),
    **dict.fromkeys(("he", "she", "John", "Anna"), (("is", "was"), ("does", "did", "should", "can"))),
}
UNMARKED = "obl:unmarked"
WEARING = ("wearing", "carrying", "holding", "selling", "looking", "hiding")

Sentence = tuple[list[str], Tree]


class Words:
    """Words of a sentence, with what they depend on and how."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, str]] = []

    def add(self, form: str, head: int, deprel: str) -> int:
        """Append a word, whose head may be a number that is set later, and give its own number."""
        self.rows.append((form, head, deprel))
        return len(self.rows)

    def attach(self, word: int, head: int) -> None:
        """Set the head of a word."""
        form, _, deprel = self.rows[word - 1]
        self.rows[word - 1] = (form, head, deprel)

    def relate(self, word: int, deprel: str) -> None:
        """Set the relation of a word."""
        form, head, _ = self.rows[word - 1]
        self.rows[word - 1] = (form, head, deprel)

    def noun(self, rng: random.Random, form: str, head: int, deprel: str, *, definite: bool = False) -> int:
        """A noun with a determiner and perhaps an adjective."""
        determiner = self.add("the" if definite else rng.choice(DETERMINERS), 0, "det")
        adjective = self.add(rng.choice(ADJECTIVES), 0, "amod") if rng.random() < 0.3 else None
        noun = self.add(form, head, deprel)
        for word in (determiner, adjective):
            if word is not None:
                self.attach(word, noun)
        return noun

    def sentence(self, root: int, mark: str) -> Sentence:
        """With the last sign of all."""
        self.add(mark, root, "punct")
        forms = [form for form, _, _ in self.rows]
        forms[0] = forms[0][0].upper() + forms[0][1:]
        return forms, Tree(tuple(head for _, head, _ in self.rows), tuple(deprel for _, _, deprel in self.rows))


def phrase_apart(rng: random.Random) -> Sentence:
    """A phrase behind the verb that belongs to the noun before it; or one that does not."""
    crossing, words = rng.random() < 0.6, Words()
    preposition = rng.choice(list(ABOUT))
    subject = words.noun(rng, rng.choice(ABOUT[preposition]), 0, "nsubj:pass")
    if rng.random() < 0.7:
        auxiliaries = [words.add(form, 0, "aux") for form in rng.choice(AUXILIARIES)]
        verb = words.add(rng.choice(PARTICIPLES), 0, "root")
        for word in auxiliaries:
            words.attach(word, verb)
        words.relate(auxiliaries[-1], "aux:pass")
    else:
        verb = words.add(rng.choice(APPEARED), 0, "root")
        words.relate(subject, "nsubj")
    words.attach(subject, verb)
    early = rng.random() < 0.25
    if early:
        words.add(rng.choice(DAYS), verb, UNMARKED)
    if crossing:
        case = words.add(preposition, 0, "case")
        words.attach(case, words.noun(rng, rng.choice(TOPICS), subject, "nmod", definite=rng.random() < 0.7))
    else:
        case = words.add(rng.choice(("in", "by", "in", "for", "before")), 0, "case")
        words.attach(case, words.add(rng.choice(PLACES), verb, "obl"))
    if not early and rng.random() < 0.7:
        words.add(rng.choice(DAYS), verb, UNMARKED)
    return words.sentence(verb, ".")


def inner_question(rng: random.Random) -> Sentence:
    """A question about a word of an inner clause; or about one of the outer."""
    words, kind = Words(), rng.random()
    if kind < 0.2:  # Who said that she saw him?
        who = words.add("who", 0, "nsubj")
        verb = words.add(rng.choice(("said", "thought", "believed", "knew", "claimed")), 0, "root")
        words.attach(who, verb)
        that = words.add("that", 0, "mark")
        subject = words.add(rng.choice(NAMES), 0, "nsubj")
        inner = words.add(rng.choice(DOING), verb, "ccomp")
        words.add(rng.choice(("him", "her", "them", "it")), inner, "obj")
        words.attach(that, inner)
        words.attach(subject, inner)
        return words.sentence(verb, "?")
    if rng.random() < 0.25:
        which = words.add("which", 0, "det")
        asked = words.add(rng.choice((*THINGS, *PEOPLE)), 0, "obj")
        words.attach(which, asked)
    else:
        asked = words.add(rng.choice(("who", "what")), 0, "obj")
    auxiliary = words.add(rng.choice(("did", "do", "did", "would")), 0, "aux")
    subject = words.add(rng.choice(ASKED), 0, "nsubj")
    if kind < 0.35:  # What did you say?
        verb = words.add(rng.choice((*SAYING, *TO_DO)), 0, "root")
        inner = verb
    elif kind < 0.55:  # What do you want to eat?
        verb = words.add(rng.choice(("want", "need", "like", "try", "plan", "hope")), 0, "root")
        to = words.add("to", 0, "mark")
        inner = words.add(rng.choice(TO_DO), verb, "xcomp")
        words.attach(to, inner)
    else:
        verb = words.add(rng.choice(SAYING), 0, "root")
        others = [words.add("that", 0, "mark")] if rng.random() < 0.5 else []
        others.append(words.add(rng.choice(NAMES), 0, "nsubj"))
        if rng.random() < 0.5:
            others.append(words.add(rng.choice(MODALS), 0, "aux"))
            inner = words.add(rng.choice(TO_DO), verb, "ccomp")
        else:
            inner = words.add(rng.choice(DOING), verb, "ccomp")
        for word in others:
            words.attach(word, inner)
    words.attach(asked, inner)
    words.attach(auxiliary, verb)
    words.attach(subject, verb)
    return words.sentence(verb, "?")


def clause_apart(rng: random.Random) -> Sentence:
    """A clause behind the verb or a day that belongs to a noun before it; or one beside its noun."""
    words = Words()
    if rng.random() < 0.5:  # A man came in who was wearing a hat.
        person = words.noun(rng, rng.choice(PEOPLE), 0, "nsubj")
        verb = words.add(rng.choice(("came", "walked", "entered", "arrived", "appeared", "called", "left")), 0, "root")
        words.attach(person, verb)
        if rng.random() < 0.5:
            words.add(rng.choice(DAYS), verb, UNMARKED)
        else:
            words.add(rng.choice(("in", "again", "suddenly")), verb, "advmod")
        _clause(rng, words, person)
        return words.sentence(verb, ".")
    subject = words.add(rng.choice(("I", "we", "they", "she", "he")), 0, "nsubj")
    verb = words.add(rng.choice(DOING), 0, "root")
    words.attach(subject, verb)
    noun = words.noun(rng, rng.choice((*PEOPLE, *THINGS)), verb, "obj")
    apart = rng.random() < 0.6
    if apart:
        words.add(rng.choice(DAYS), verb, UNMARKED)
    _clause(rng, words, noun)
    if not apart:
        words.add(rng.choice(DAYS), verb, UNMARKED)
    return words.sentence(verb, ".")


def preposition_apart(rng: random.Random) -> Sentence:
    """A question whose preposition is left at the end, or a particle that belongs to the verb; as a clause, too."""
    words, kind = Words(), rng.random()
    if kind < 0.2:  # The man we spoke to left. The bag which she paid for is old.
        return _preposition_of_clause(rng, words)
    if kind < 0.3:  # Who is the letter from?
        asked = words.add(rng.choice(("who", "what", "who")), 0, "root")
        words.add(rng.choice(("is", "was")), asked, "cop")
        words.noun(rng, rng.choice(GIFTS), asked, "nsubj", definite=True)
        words.add(rng.choice(("for", "from", "about", "for", "from", "with")), asked, "case")
        return words.sentence(asked, "?")
    asked, name = _asked(rng, words), rng.choice(list(SUBJECTS))
    being, doing = SUBJECTS[name]
    if kind < 0.5:  # What is she proud of?
        adjective = rng.choice(list(INTERESTED))
        copula, subject = words.add(rng.choice(being), 0, "cop"), words.add(name, 0, "nsubj")
        verb = words.add(adjective, 0, "root")
        words.add(INTERESTED[adjective], asked, "case")
        words.attach(copula, verb)
    else:
        ing = rng.random() < 0.4
        auxiliary, subject = words.add(rng.choice(being if ing else doing), 0, "aux"), words.add(name, 0, "nsubj")
        if kind < 0.65:  # What did he throw away?
            form, particle = rng.choice(PARTICLE_VERBS)
            verb = words.add(_ing(form) if ing else form, 0, "root")
            words.add(particle, verb, "compound:prt")
            words.relate(asked, "obj")
        elif kind < 0.75:  # What did they buy it for?
            verb = words.add(_ing(rng.choice(TO_DO)) if ing else rng.choice(TO_DO), 0, "root")
            words.add(rng.choice(("it", "them", "her", "him")), verb, "obj")
            words.add(rng.choice(("with", "for", "from")), asked, "case")
        else:
            form = rng.choice(list(STRANDED))
            verb = words.add(_ing(form) if ing else form, 0, "root")
            words.add(rng.choice(STRANDED[form]), asked, "case")
        words.attach(auxiliary, verb)
    words.attach(asked, verb)
    words.attach(subject, verb)
    return words.sentence(verb, "?")


def _asked(rng: random.Random, words: Words) -> int:
    """Who, what, or which thing; for now without a head."""
    if rng.random() < 0.7:
        return words.add(rng.choice(("who", "what")), 0, "obl")
    which = words.add(rng.choice(("which", "what", "whose")), 0, "det")
    noun = words.add(rng.choice((*THINGS, *PEOPLE, *TOPICS)), 0, "obl")
    words.attach(which, noun)
    if words.rows[which - 1][0] == "whose":
        words.relate(which, "nmod:poss")
    return noun


def _preposition_of_clause(rng: random.Random, words: Words) -> Sentence:
    """A relative clause that ends with its preposition, or has none."""
    noun = words.noun(rng, rng.choice((*PEOPLE, *THINGS)), 0, "nsubj", definite=rng.random() < 0.7)
    pronoun = words.add(rng.choice(("who", "which", "that")), 0, "obl") if rng.random() < 0.4 else None
    subject = words.add(rng.choice(list(SUBJECTS)), 0, "nsubj")
    if rng.random() < 0.3:  # The bag she bought is old.
        verb = words.add(rng.choice(DOING), noun, "acl:relcl")
        if pronoun is not None:
            words.relate(pronoun, "obj")
    else:
        form = rng.choice(list(STRANDED))
        verb = words.add(PAST.get(form, f"{form.removesuffix('e')}ed"), noun, "acl:relcl")
        preposition = rng.choice(STRANDED[form])
        if pronoun is None:  # the preposition stands for the whole phrase
            words.add(preposition, verb, "obl")
        else:
            words.add(preposition, pronoun, "case")
    for word in (subject, *(() if pronoun is None else (pronoun,))):
        words.attach(word, verb)
    if rng.random() < 0.5:
        was = words.add(rng.choice(("is", "was")), 0, "cop")
        root = words.add(rng.choice(KINDS), 0, "root")
        words.attach(was, root)
    else:
        root = words.add(rng.choice(APPEARED), 0, "root")
        if rng.random() < 0.5:
            words.add(rng.choice(DAYS), root, UNMARKED)
    words.attach(noun, root)
    return words.sentence(root, ".")


PAST = {
    "sit": "sat",
    "speak": "spoke",
    "think": "thought",
    "pay": "paid",
    "go": "went",
    "write": "wrote",
    "travel": "travelled",
}


def _ing(form: str) -> str:
    """The participle of a verb that the patterns use."""
    if form in ("sit", "travel", "put"):
        return f"{form}{form[-1]}ing"
    return f"{form.removesuffix('e')}ing" if not form.endswith("ee") else f"{form}ing"


def _clause(rng: random.Random, words: Words, noun: int) -> None:
    """A relative clause."""
    who = words.add(rng.choice(("who", "which", "that")), 0, "nsubj")
    was = words.add(rng.choice(("was", "is")), 0, "aux")
    if rng.random() < 0.5:
        verb = words.add(rng.choice(WEARING), noun, "acl:relcl")
        words.noun(rng, rng.choice(THINGS), verb, "obj")
    else:
        words.relate(was, "cop")
        very = words.add(rng.choice(("very", "really", "quite", "so")), 0, "advmod")
        verb = words.add(rng.choice(KINDS), noun, "acl:relcl")
        words.attach(very, verb)
    words.attach(who, verb)
    words.attach(was, verb)


PATTERNS: Sequence[Callable[[random.Random], Sentence]] = (
    phrase_apart,
    inner_question,
    clause_apart,
    preposition_apart,
)


def make_sentences(count: int, seed: int) -> list[Sentence]:
    """So many different sentences."""
    rng, found = random.Random(seed), dict[str, Sentence]()
    while len(found) < count:
        forms, tree = rng.choice(PATTERNS)(rng)
        text = " ".join(forms)
        if text not in SHOWN:
            found[text] = (forms, tree)
    return list(found.values())


def to_conllu(sentence: Sentence) -> str:
    """As CoNLL-U."""
    forms, tree = sentence
    rows = zip(forms, tree.heads, tree.deprels, strict=True)
    lines = [
        f"{number}\t{form}\t_\t_\t_\t_\t{head}\t{deprel}\t_\t_" for number, (form, head, deprel) in enumerate(rows, 1)
    ]
    return "\n".join(lines) + "\n\n"


def main(arguments: Sequence[str]) -> None:
    """Write sentences."""
    parser = argparse.ArgumentParser(prog="python -m models.crossing_sentences", description="Make sentences.")
    parser.add_argument("output", type=Path)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with writing(given.output) as stream:
        stream.writelines(to_conllu(sentence) for sentence in make_sentences(given.sentences, given.seed))


if __name__ == "__main__":
    command(main, "crossing_sentences")
