"""Training a segmenter: the text of a treebank as units with labels, rendered in several ways."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from biplanar.data.arrays import Int64s
from biplanar.data.conllu import EMPTY, Sentence
from biplanar.data.forest import Column, offsets_of
from biplanar.data.raw_text import starts_paragraph
from biplanar.encodings.columns import UNLABELLED
from biplanar.evaluation import Score
from biplanar.tagger.checkpoint import Origin
from biplanar.tagger.config import Config, SegmenterConfig, TrainingConfig
from biplanar.tagger.device import TorchTagger
from biplanar.tagger.features import Corpus, Vocabulary
from biplanar.tagger.loop import TrainingLoop
from biplanar.tagger.network import build_network
from biplanar.tagger.tensors import TensorBatch
from biplanar.tagger.weights import checksum
from biplanar.tokenizer.labels import TASKS, Tokens, encode_tokens
from biplanar.tokenizer.multiword import BY_ENDING, MultiwordTokens
from biplanar.tokenizer.segmenter import UnitTagger
from biplanar.tokenizer.units import Units

WINDOW = 100  # units that are learned from together

# What is learned beside, of the word that ends with a unit: where sentences end has to do with their grammar.
HINTS, HINT_WEIGHT = ("upos", "deprel"), 0.3

LEAST_COUNT = 2  # of forms and characters with vectors of their own
RENDERINGS = 8  # of the whole text, which epochs take in turn
SHUFFLED = 4  # of these, in which all sentences change places: which follows which is not to be learned by heart
DEV_BATCH_UNITS = 20_000

# What is kept is the running mean of the weights, over one of so many parts of the updates: on small treebanks, the
# network changes from one update to the next by more than it learns.
PARTS = 20

# Batches of an epoch and units of a batch, at least; evaluations on dev.
LEAST_BATCHES, LEAST_BATCH, EVALUATIONS = 40, 600, 10

# Sentences of a paragraph, at most; texts without paragraphs are cut into such.
MOST_SENTENCES = 40

# The shares of paragraphs that are rendered in other ways than the treebank's.
LOWER, UPPER, UNPUNCTUATED, LINES, WRAPPED, GLUED, GARBLED = 0.06, 0.02, 0.06, 0.08, 0.06, 0.03, 0.04

# The share that begins a transcript, in lower case and without punctuation, and how many sentences it has at least.
TRANSCRIPTS, TRANSCRIPT_SENTENCES = 0.02, 8

# Treebanks of fewer sentences lose their case a third as often: how capitals begin sentences is learned from few.
SMALL_TREEBANK, SELDOM = 1500, 1 / 3

# The share of sentences that are put between quotes, in treebanks that have a few which look alike on both sides. Where
# there are so many, these show best what they do.
QUOTED, QUOTE, MANY_QUOTES = 0.05, '"', 300

# The share of short sentences that are rendered as headings, and how many tokens these have at most.
HEADINGS, HEADING_TOKENS = 0.04, 10

# The shares of abbreviations, dates, and names with signs inside (addresses, paths) that are rendered as others, and of
# plain words in whose place a name stands, or any other word: small treebanks are learned by heart otherwise.
OTHER_ABBREVIATIONS, OTHER_DATES, OTHER_NAMES, NEW_NAMES, NEW_WORDS = 0.3, 0.4, 0.4, 0.004, 0.3

_ABBREVIATION = re.compile(r"[^\W\d_]{2,}\.")
_DATE = re.compile(r"[0-9]+(?:[/.-][0-9]+){2,}")
_NAME = re.compile(r".*(?:\w[/.@_]\w|['’][A-ZÀ-Þ])")
_LETTERS, _RUN = re.compile(r"[^\W\d_]{4,}"), re.compile(r"[^\W\d_]+|\d+")


class TextToken(NamedTuple):
    """A token as it stands in a text."""

    text: str
    gap: str  # the white space behind it
    words: tuple[str, ...]  # of a multiword token
    hints: tuple[str, ...]  # values of `HINTS`, of its last word
    closes: bool = False  # whether a sentence ends with it


TextSentence = Sequence[TextToken]


def paragraphs_of_sentences(sentences: Iterable[Sentence]) -> list[list[TextSentence]]:
    """The sentences of a treebank, by the paragraphs that it tells of."""
    paragraphs: list[list[TextSentence]] = []
    for sentence in sentences:
        if not paragraphs or starts_paragraph(sentence):
            paragraphs.append([])
        paragraphs[-1].append(list(_text_tokens(sentence)))
    return paragraphs


def _text_tokens(sentence: Sentence) -> Iterator[TextToken]:
    """The tokens with single spaces, as the texts of treebanks have."""
    for token in sentence.tokens:
        (_, text, after), words = token.spaced, token.words
        hints = tuple(getattr(words[-1], hint) for hint in HINTS)
        forms = tuple(word.form for word in words) if token.is_multiword else ()
        yield TextToken(text, " " if after else "", forms, hints)


@dataclass(frozen=True)
class Rendering:
    """A text with its tokens, units and labels."""

    texts: list[str]  # of paragraphs
    tokens: Tokens
    units: Units
    labels: dict[str, Column]  # also of hints

    @classmethod
    def of(cls, paragraphs: Sequence[Sequence[TextSentence]], rng: np.random.Generator | None = None) -> Rendering:
        """As the treebank has it, or, with a random generator, some paragraphs in other ways."""
        texts, tokens = list[str](), list[TextToken]()
        for own in ([*_plain(some)] for some in paragraphs) if rng is None else _rendered(paragraphs, rng):
            texts.append("".join(token.text + token.gap for token in own))
            tokens += own
        starts = offsets_of(len(token.text) + len(token.gap) for token in tokens)[:-1]
        ends = starts + np.array([len(token.text) for token in tokens])
        rules = [(number, BY_ENDING) for number, one in enumerate(tokens) if len(one.words) > 1]
        found, units = Tokens(starts, ends, np.array([token.closes for token in tokens]), rules), Units.of(texts)
        hints = _hint_labels(units, found, [token.hints for token in tokens])
        return cls(texts, found, units, encode_tokens(units, found) | hints)


def _hint_labels(units: Units, tokens: Tokens, hints: Sequence[tuple[str, ...]]) -> dict[str, Column]:
    """What is known of the token that ends with each unit."""
    at = np.searchsorted(units.ends, tokens.ends)
    labels = np.full((len(HINTS), len(units)), EMPTY, dtype=object)
    whole = units.ends[at] == tokens.ends
    labels[:, at[whole]] = np.array(hints, dtype=object)[whole].T
    return {hint: Column.of(row) for hint, row in zip(HINTS, labels.tolist(), strict=True)}


def _shuffled(paragraphs: Sequence[Sequence[TextSentence]], rng: np.random.Generator) -> list[list[TextSentence]]:
    """Paragraphs as long as these, of the same sentences in random order."""
    sentences = [one for some in paragraphs for one in some]
    order = iter(rng.permutation(len(sentences)).tolist())
    return [[sentences[next(order)] for _ in some] for some in paragraphs]


def _plain(sentences: Iterable[TextSentence]) -> Iterator[TextToken]:
    """The tokens of a paragraph."""
    for *tokens, last in sentences:
        yield from (*tokens, last._replace(gap=" ", closes=True))


def _rendered(paragraphs: Sequence[Sequence[TextSentence]], rng: np.random.Generator) -> Iterator[list[TextToken]]:
    """The tokens of some paragraphs, each rendered in a way of its own; long ones in parts."""
    others = _Others.of(token for sentences in paragraphs for sentence in sentences for token in sentence)
    caseless = SELDOM if sum(map(len, paragraphs)) < SMALL_TREEBANK else 1.0
    transcript = list[TextSentence]()
    for sentences in paragraphs:
        start = 0
        while start < len(sentences):
            size = int(rng.integers(MOST_SENTENCES // 4, MOST_SENTENCES))
            part = sentences[start : start + size]
            start += size
            if not transcript and rng.random() >= caseless * TRANSCRIPTS:
                yield [*_paragraph(part, others, caseless, rng)]
                continue
            transcript += part
            if len(transcript) >= TRANSCRIPT_SENTENCES:
                yield [*_transcript(transcript)]
                transcript = []
    if transcript:
        yield [*_transcript(transcript)]


def _transcript(sentences: Sequence[TextSentence]) -> Iterator[TextToken]:
    """The tokens of a paragraph in lower case, without punctuation."""
    for sentence in sentences:
        kept = list[TextToken]()
        for token in sentence:
            if any(map(str.isalnum, token.text)):
                kept.append(token._replace(text=token.text.lower()))
            elif kept:
                kept[-1] = kept[-1]._replace(gap=" ")
        yield from _plain([kept] if kept else [])


def _paragraph(
    sentences: Sequence[TextSentence], others: _Others, caseless: float, rng: np.random.Generator
) -> Iterator[TextToken]:
    """The tokens of a paragraph, rendered in one way, with some headings among its sentences."""
    shares = np.array([caseless * LOWER, caseless * UPPER, UNPUNCTUATED, LINES, WRAPPED, GLUED, GARBLED])
    lower, upper, unpunctuated, lines, wrapped, glued, garbled = (rng.random(len(shares)) < shares).tolist()
    width, column = int(rng.integers(40, 90)), 0
    headings = [len(one) <= HEADING_TOKENS and bool(rng.random() < HEADINGS) for one in sentences]
    for sentence, heading, before_heading in zip(sentences, headings, [*headings[1:], False], strict=True):
        bare = _without_final_punctuation(sentence) if unpunctuated or heading else sentence
        *tokens, last = _quoted(bare, rng) if others.has_few_quotes and rng.random() < QUOTED else bare
        is_line = lines or heading or before_heading
        between = "\n" if is_line else "" if glued and not last.text[-1].isalnum() else " "
        for token in (*tokens, last._replace(gap=between, closes=True)):
            own, gap = token.text, token.gap
            text = own.lower() if lower else own.upper() if upper else _garbled(own) if garbled else own
            column += len(own) + len(gap)
            if wrapped and gap == " " and column > width:
                gap, column = "\n", 0
            yield token._replace(text=text if token.words or token.closes else others.beside(text, rng), gap=gap)


@dataclass(frozen=True)
class _Others:
    """What may stand in place of a token and is cut alike."""

    words: list[str]
    names: list[list[str]]  # of each shape, so that rare shapes are learned as well
    has_few_quotes: bool

    @classmethod
    def of(cls, tokens: Iterable[TextToken]) -> _Others:
        """Those of a treebank."""
        counts, names = Counter(token.text for token in tokens if not token.words), defaultdict[str, list[str]](list)
        texts = sorted(counts)
        for text in filter(_NAME.match, texts):
            names[_RUN.sub(_kind_of_run, text)].append(text)
        has_few_quotes = 0 < counts[QUOTE] < MANY_QUOTES
        return cls([text for text in texts if _LETTERS.fullmatch(text)], list(names.values()), has_few_quotes)

    def beside(self, text: str, rng: np.random.Generator) -> str:
        """The same text, or another abbreviation, date, name or word."""
        if text.isalpha():
            if self.words and _LETTERS.fullmatch(text) and rng.random() < NEW_WORDS:
                return self._word(text, rng)
            if not self.names or rng.random() >= NEW_NAMES:
                return text
            shape = self.names[int(rng.integers(len(self.names)))]
            return self._with_words(shape[int(rng.integers(len(shape)))], rng)
        if not self.words or len(text) < 3:
            return text
        if _ABBREVIATION.fullmatch(text):
            short = self._word(text, rng)[: rng.integers(2, 7)]
            return f"{short}." if rng.random() < OTHER_ABBREVIATIONS else text
        if _DATE.fullmatch(text):
            parts, sign = re.split("[/.-]", text), "/.-"[rng.integers(3)]
            return sign.join(parts[:: rng.choice([1, -1])]) if rng.random() < OTHER_DATES else text
        return self._with_words(text, rng) if _NAME.match(text) and rng.random() < OTHER_NAMES else text

    def _with_words(self, name: str, rng: np.random.Generator) -> str:
        """With other words inside."""
        return _LETTERS.sub(lambda found: self._word(found[0], rng), name) if self.words else name

    def _word(self, case: str, rng: np.random.Generator) -> str:
        """Any word, in the case of another."""
        found = self.words[int(rng.integers(len(self.words)))]
        return found.upper() if case.isupper() else found.capitalize() if case[0].isupper() else found.lower()


def _quoted(sentence: TextSentence, rng: np.random.Generator) -> TextSentence:
    """Between quotes, which stand apart or not; a sentence with quotes of its own stays as it is."""
    if any(token.text == QUOTE for token in sentence):
        return sentence
    quote, gap = TextToken(QUOTE, " ", (), ("PUNCT", "punct")), " " if rng.random() < 0.5 else ""
    return [quote._replace(gap=gap), *sentence[:-1], sentence[-1]._replace(gap=gap), quote]


def _kind_of_run(run: re.Match[str]) -> str:
    """What letters and digits are in the shape of a name."""
    return "0" if run[0].isdigit() else "A" if run[0][0].isupper() else "a"


def _garbled(text: str) -> str:
    """A word as UTF-8 that was read as Latin-1: letters beyond ASCII become several signs, unless one is a space."""
    read = text.encode().decode("latin-1")
    return read if text.isalpha() and not any(map(str.isspace, read)) else text


def _without_final_punctuation(sentence: TextSentence) -> TextSentence:
    """Unless there is nothing else."""
    last = len(sentence)
    while last > 1 and not any(map(str.isalnum, sentence[last - 1].text)):
        last -= 1
    return sentence[:last]


@dataclass(frozen=True)
class SegmenterRecord:
    """One evaluation on dev. `loss` is the mean per unit since the last one."""

    epoch: int
    epochs: int
    loss: float
    tokens: float
    sentences: float
    units_per_second: float
    best: bool

    def __str__(self) -> str:
        scores = f"loss {self.loss:.3f}  dev tokens {self.tokens:.2f}  sentences {self.sentences:.2f}"
        star = "  *" if self.best else ""
        return f"epoch {self.epoch}/{self.epochs}  {scores}  {self.units_per_second:,.0f} units/s{star}"


class SegmenterTrainer(TrainingLoop):
    """The training of a segmenter."""

    auxiliary: nn.ModuleDict

    def __init__(
        self,
        config: SegmenterConfig,
        train: Iterable[Sentence],
        dev: Iterable[Sentence],
        *,
        seed: int = 1,
        device: torch.device | str = "cpu",
        threads: int | None = None,
    ) -> None:
        self.config = config
        paragraphs, rng = paragraphs_of_sentences(train), np.random.default_rng(seed)
        plain, self.dev = Rendering.of(paragraphs), Rendering.of(paragraphs_of_sentences(dev))
        tokens = (token for sentences in paragraphs for sentence in sentences for token in sentence)
        self.multiword = MultiwordTokens.of((token.text, token.words) for token in tokens if token.words)
        renderings = [
            Rendering.of(_shuffled(paragraphs, rng) if number < SHUFFLED else paragraphs, rng)
            for number in range(RENDERINGS)
        ]
        self._parts, self._forms, self._words = _joined(renderings)
        vocabulary = Vocabulary.of(
            [np.array(plain.units.forms, dtype=object)[plain.units.numbers].tolist()],
            {task: plain.labels[task].without_unused().names for task in TASKS},
            min_form_count=LEAST_COUNT,
            min_char_count=LEAST_COUNT,
        )
        torch.manual_seed(seed)
        network = build_network(Config(network=config.network), vocabulary)
        known = {hint: [name for name in plain.labels[hint].names if name != EMPTY] for hint in HINTS}
        known = {hint: names for hint, names in known.items() if names}
        auxiliary = nn.ModuleDict({hint: nn.Linear(network.width, len(names)) for hint, names in known.items()})
        corpus, where = Corpus(self._forms, plain.units.numbers, plain.units.offsets), torch.device(device)
        training = _training(config, len(plain.units))
        super().__init__(network, auxiliary, vocabulary, corpus, training, seed=seed, device=where, threads=threads)
        self._targets = {
            task: self.table(_targets([one.labels[task] for one in renderings], names))
            for task, names in (dict(vocabulary.tasks) | known).items()
        }

    def origin(self) -> Origin:
        """What the training was started with."""
        settings = {f"segmenter.{name}": value for name, value in asdict(self.config).items()}
        train, dev = checksum(self._forms, self._words), checksum(self.dev.texts)
        return Origin(settings, self.seed, train, dev, [], checksum(self.vocabulary.to_dict()))

    def corpus_of_epoch(self) -> Corpus:
        """Windows of a rendering that begin at other units than last time."""
        rng = np.random.default_rng([self.seed, self.epoch, 1])
        self._start, paragraphs = self._parts[self.epoch % len(self._parts)]
        count = paragraphs[-1]
        cuts = np.arange(rng.integers(1, WINDOW), count, WINDOW)
        offsets = np.unique(np.concatenate([paragraphs, cuts]))
        return Corpus(self._forms, self._words[self._start : self._start + count], offsets)

    def gold_arrays(self, chosen: Int64s, mask: NDArray[np.bool_]) -> tuple[Int64s]:
        """Where the units are among those of all renderings."""
        return (self.positions(self._start + self._corpus.places(chosen), mask, len(self._words)),)

    def step_losses(self, forms: Tensor, batch: TensorBatch, arrays: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """The loss of all tasks."""
        (positions,) = arrays
        words = (positions < len(self._words)).sum()
        units = self.network.encoder(forms, batch)  # (all units, width)

        def loss(tables: Mapping[str, Tensor]) -> Tensor:
            losses = [
                nn.functional.cross_entropy(
                    table.float(), self._targets[task][positions], ignore_index=UNLABELLED, reduction="sum"
                )
                for task, table in tables.items()
            ]
            return sum(losses, start=units.new_zeros(())) / words

        hints = {hint: layer(units) for hint, layer in self.auxiliary.items()}
        return loss(self.network.score(units, batch, None)), HINT_WEIGHT * loss(hints), words

    def segmenter(self) -> UnitTagger:
        """The present network."""
        scorer = TorchTagger(self.kept, self.vocabulary, self.device)
        return UnitTagger(scorer, self.vocabulary.tasks, self.multiword, DEV_BATCH_UNITS)

    def evaluate(self) -> tuple[float, float, float]:
        """F1 of tokens and of sentences on dev, and the mean of both."""
        gold, found = self.dev.tokens, self.segmenter().cut(self.dev.texts).tokens
        tokens, sentences = _f1(_spans(gold), _spans(found)), _f1(_sentences(gold), _sentences(found))
        return tokens, sentences, (tokens + sentences) / 2

    def record(self, loss: float, speed: float, best: bool, scores: tuple[float, ...]) -> SegmenterRecord:
        """Scores of tokens and sentences."""
        return SegmenterRecord(self.epoch, self.epochs, loss, scores[0], scores[1], speed, best)


def _joined(renderings: Sequence[Rendering]) -> tuple[list[tuple[int, Int64s]], list[str], Int64s]:
    """Where each rendering and its paragraphs start, all forms, and the units of all renderings as numbers of these."""
    known: dict[str, int] = {}
    parts, words, start = list[tuple[int, Int64s]](), list[Int64s](), 0
    for one in renderings:
        numbers = np.array([known.setdefault(form, len(known)) for form in one.units.forms], dtype=np.int64)
        words.append(numbers[one.units.numbers])
        parts.append((start, one.units.offsets))
        start += len(one.units)
    return parts, list(known), np.concatenate(words)


def _targets(columns: Sequence[Column], names: Sequence[str]) -> Int64s:
    """The labels of all renderings as numbers of known ones, and that of padding."""
    numbers = {name: number for number, name in enumerate(names)}
    parts = [np.array([numbers.get(name, UNLABELLED) for name in one.names])[one.ids] for one in columns]
    return np.asarray(np.append(np.concatenate(parts), UNLABELLED))


def _spans(tokens: Tokens) -> Int64s:
    """A number for each token, by where it is."""
    return tokens.starts << 32 | tokens.ends


def _sentences(tokens: Tokens) -> Int64s:
    """A number for each sentence."""
    last = np.flatnonzero(tokens.closes)
    first = np.append(0, last[:-1] + 1)
    return np.asarray(tokens.starts[first] << 32 | tokens.ends[last])


def _f1(gold: Int64s, found: Int64s) -> float:
    """In percent, of numbers that are in both."""
    return 100 * Score(len(np.intersect1d(gold, found)), len(gold), len(found)).f1


def _training(config: SegmenterConfig, units: int) -> TrainingConfig:
    """Small treebanks have smaller batches, so that they get as many updates in not too many epochs."""
    batch = min(config.batch_units, max(LEAST_BATCH, units // LEAST_BATCHES))
    return TrainingConfig(
        epochs=max(1, round(config.updates * batch / units)),
        batch_words=batch,
        learning_rate=config.learning_rate,
        average=max(0.0, 1 - PARTS / config.updates),
        evaluations=EVALUATIONS,
    )
