"""All tables and figures that pages take from the stored results, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Any

from benchmarks.core_report import compiling_sheet, growth_sheets, labels_sheet, reading_sheet
from benchmarks.output import Sheet
from benchmarks.output import markdown_table as table
from benchmarks.parsers.report import sheets
from benchmarks.parsers.systems import UNIT
from benchmarks.raw_text import sheets as raw_text_sheets

from biplanar.encodings import ENCODINGS as ALL_ENCODINGS
from study.fingerprint import CODE
from study.paper_tables import ONE_PLANE, PAPER_TABLES, TWO_PLANES, Row, int8_ratio, ours
from study.plan import ARC_CODES, BIAFFINE, COLUMN_CODES, COMPARED, COMPARED_CODES, ENCODINGS, LARGER, STUDIES
from study.store import Seeds, Store, Where, is_current, percent
from study.treebanks import BY_CODE, TREEBANKS
from study.verdicts import verdicts

GREEK = BY_CODE["grc"]
SENTENCES, DEPENDENCIES = "NonprojectiveSentences", "NonprojectiveDependencies"
CROSSING = {SENTENCES: "sentences", DEPENDENCIES: "dependencies"}

NOT_MEASURED = "*Not measured with the present code.*"


@dataclass(frozen=True)
class Column:
    """A column of a table: networks that stand in for each other, and a decoder."""

    title: str
    networks: tuple[str, ...]
    decoder: str

    def cell(self, store: Store, study: str, code: str, encoding: str, split: str, metric: str = "LAS") -> Seeds | None:
        """The mean over seeds of a treebank."""
        where: Where = (split, "gold words", self.decoder)
        found = (store.cell(study, code, one, encoding, where, metric) for one in self.networks)
        return next((one for one in found if one is not None), None)

    def is_current(self, store: Store, study: str) -> bool:
        """Whether its results are of today's code; a column of others is not shown."""
        results = [one for one in store.studies[study].values() if one["network"] in self.networks]
        return all(is_current(store, study, one, self.decoder) for one in results)


# Labels and arcs

ARC_COLUMNS = {  # by their names in figures
    "pure": Column("labels alone, no attention", ("pure", "plain"), "labels"),
    "labels": Column("labels (`accurate`)", ("accurate",), "labels"),
    "arcs": Column("arcs (`accurate`)", ("accurate",), "arcs"),
    "both": Column("labels and arcs (`accurate`)", ("accurate",), "search"),
    "biaffine": Column("biaffine parser", (BIAFFINE,), BIAFFINE),
}


def arcs(metric: str, store: Store) -> str:
    """Test figures of labels, arcs and both, with their means over treebanks."""
    means = arc_means(store, metric)
    rows = [[BY_CODE[code].name, *(f"{one[code]:.2f}" for one in means.values())] for code in ARC_CODES]
    rows.append(["mean", *(f"{mean(one.values()):.2f}" for one in means.values())])
    return table([metric, *(ARC_COLUMNS[name].title for name in means)], rows)


def arc_means(store: Store, metric: str = "LAS") -> dict[str, dict[str, float]]:
    """Means over seeds on test, by column and treebank."""
    found: dict[str, dict[str, float]] = {}
    for name, column in ARC_COLUMNS.items():
        if column.is_current(store, "arcs"):
            cells = {code: column.cell(store, "arcs", code, "2p-full", "test", metric) for code in ARC_CODES}
            found[name] = {code: one.mean for code, one in cells.items() if one is not None}
    return found


def arc_decoders(store: Store) -> str:
    """Mean LAS of `accurate` over treebanks and seeds, by decoder."""
    names = {
        "greedy": "greedy",
        "labels": "search of labels",
        "arcs": "spanning tree of arcs",
        "search": "search of labels and arcs",
        "minimum-risk": "minimum risk",
    }

    def rows() -> Iterator[Row]:
        for column in (Column(title, ("accurate",), decoder) for decoder, title in names.items()):
            cells = [
                [column.cell(store, "arcs", code, "2p-full", split) for code in ARC_CODES] for split in ("dev", "test")
            ]
            if column.is_current(store, "arcs"):
                yield [column.title, *(f"{mean(one.mean for one in some if one is not None):.2f}" for some in cells)]

    return table(["decoder", "dev", "test"], rows())


# Tags, features and lemmas

SHOWN = ("UPOS", "XPOS", "UFeats", "Lemmas", "LAS")


def columns(store: Store) -> str:
    """Test scores of `pure` with `2p-full`: gold words, LAS without columns, raw text."""

    def rows() -> Iterator[Row]:
        for code in COLUMN_CODES:
            gold, raw = (
                [store.cell("columns", code, "pure", "2p-full", ("test", source, "search"), one) for one in SHOWN]
                for source in ("gold words", "raw text")
            )
            where = ("test", "gold words", "search")
            without = [store.cell(study, code, LARGER, "2p-full", where) for study in ("columns", "paper")]
            yield [BY_CODE[code].name, *map(_shown, (*gold, without[0] or without[1], *raw))]

    return table(["treebank", *SHOWN, "LAS without columns", "raw text: UPOS", *SHOWN[1:]], rows())


def published(store: Store) -> str:
    """Ours beside published figures of other taggers: UPOS, UFeats and Lemmas."""
    others = store.printed["tagging"]

    def rows() -> Iterator[Row]:
        for code in COLUMN_CODES:
            where = ("test", "gold words", "search")
            cells = [store.cell("columns", code, "pure", "2p-full", where, one) for one in others["columns"]]
            ours = " / ".join("–" if one is None else f"{one.mean:.1f}" for one in cells)
            yield [BY_CODE[code].name, ours, *others["cells"][BY_CODE[code].name]]

    return table([" / ".join(others["columns"]), "ours", *others["systems"]], rows())


def _shown(cell: object) -> str:
    return "–" if cell is None else str(cell)


# All encodings

ENCODING_COLUMNS = (
    Column("`pure`, greedy", ("pure",), "greedy"),
    Column("`pure`, search", ("pure",), "labels"),
    Column("greedy", ("accurate",), "greedy"),
    Column("search of labels", ("accurate",), "labels"),
    Column("search of labels and arcs", ("accurate",), "search"),
)


def encodings(store: Store) -> str:
    """LAS on dev, mean over three treebanks, by what decodes; and F1 of crossing dependencies on test."""
    columns = [one for one in ENCODING_COLUMNS if one.is_current(store, "encodings")]
    redecoded = store.files["encodings-decoded"]
    is_shown = redecoded["fingerprint"]["code"] == CODE
    crossed = [code for code in COMPARED_CODES if code != "en"]  # English has too few

    def rows() -> Iterator[Row]:
        for encoding in COMPARED:
            cells = [
                [one.cell(store, "encodings", code, encoding, "dev") for code in COMPARED_CODES] for one in columns
            ]
            las = [mean(one.mean for one in some if one is not None) for some in cells]
            if is_shown:
                las.append(mean(redecoded["encodings"][encoding]["las"].values()))
            pure = ENCODING_COLUMNS[1]
            found = [pure.cell(store, "encodings", code, encoding, "test", DEPENDENCIES) for code in crossed]
            yield [f"`{encoding}`", *(f"{one:.2f}" for one in las), *map(_shown, found)]

    head = [*(one.title for one in columns), *(["search of labels and arcs, one seed"] if is_shown else [])]
    return table(["encoding", *head, *(f"crossing, {BY_CODE[code].language}" for code in crossed)], rows())


def encoding_sizes(store: Store) -> str:
    """Labels, relations, and the size of a network."""

    def rows() -> Iterator[Row]:
        for encoding, row in store.files["encodings-decoded"]["encodings"].items():
            yield [f"`{encoding}`", row["labels"], row["relations"], f"{row['bytes'] / 1e6:.1f}"]

    return table(["encoding", "labels", "relations", "MB"], rows())


# Labels without a network

MEASURES: dict[str, tuple[Callable[[dict[str, Any]], float], int]] = {
    "labels": (lambda row: sum(row["labels"]), 0),
    "relations": (lambda row: row["relations"], 0),
    "unseen in dev %": (lambda row: row["unseen"]["dev"], 3),
    "arcs %": (lambda row: row["coverage_before_repair"], 2),
    "sentences %": (lambda row: row["whole_sentences"], 2),
    "bits": (lambda row: row["entropy"], 2),
    "bits with relation": (lambda row: row["entropy_with_relation"], 2),
}
# Lifting changes relations and coverage in the same way, whichever encoding it is put before.
LIFTED = tuple(f"4-bit+{scheme}" for scheme in ("head", "path", "head+path"))


def labels(store: Store) -> str:
    """Means over the treebanks."""
    rows = store.files["label-statistics"].values()
    lines = (
        [f"`{name}`", *(_measured(measure, [one[name] for one in rows]) for measure in MEASURES)]
        for name in (*ALL_ENCODINGS, *LIFTED)
    )
    return table(["encoding", *MEASURES], lines)


def _measured(measure: str, rows: Sequence[dict[str, Any]]) -> str:
    value, decimals = MEASURES[measure]
    return f"{mean(map(value, rows)):,.{decimals}f}"


# The models that ship, and benchmarks

BUNDLED = ("UAS", "LAS", "CLAS", "ExactLAS", "UPOS", "XPOS", "UFeats", "Lemmas", "MLAS", "BLEX", "Words", "Sentences")


def bundled(store: Store) -> str:
    """Scores of the bundled model."""
    scores = {
        f"{split}, {source}": found
        for split, sources in store.files["packaged"]["en"]["scores"].items()
        for source, found in sources.items()
    }
    rows = ([one, *(f"{found[one]:.2f}" for found in scores.values())] for one in BUNDLED)
    return table(["English-EWT", *scores], rows)


PACKAGED = {"raw text": ("Tokens", "Sentences"), "gold words": ("UPOS", "LAS")}


def packaged(store: Store) -> str:
    """What ships for each language: size and scores on test, beside `accurate`, which taught most of them."""
    rows = []
    for code, one in store.files["packaged"].items():
        scores, name = one["scores"]["test"], one["treebank"].partition(" ")[0]
        cells = [scores[source][metric] for source, metrics in PACKAGED.items() for metric in metrics]
        large = [
            other["scores"]["test"]["gold words"]["LAS"]
            for key, other in store.files["models"].items()
            if key.startswith(f"{one['fingerprint']['data']}/{name}/accurate/")
        ]
        shown = [*cells, scores["raw text"]["LAS"], mean(large) if large else None]
        rows.append(
            [
                one["language"],
                f"`{code}`",
                one["treebank"].removeprefix("UD_").replace("_", " "),
                one["licence"],
                f"{one['bytes'] / 1e6:.1f}",
                *("–" if cell is None else f"{cell:.2f}" for cell in shown),
            ]
        )
    titles = ("Tokens", "Sentences", "UPOS", "LAS, gold words", "LAS, raw text", "`accurate`: LAS, gold words")
    return table(["language", "name", "treebank", "licence", "MB", *titles], sorted(rows))


BESIDE = {"LAS": ("gold words", "raw text"), "Sentences": ("raw text",)}


def packaged_beside_published(store: Store) -> str:
    """What ships for each language on test, and in brackets the published figures of a far larger system."""
    rows = []
    for one in store.files["packaged"].values():
        name, others = one["treebank"].partition(" ")[0].removeprefix("UD_"), store.printed["recent"]["cells"]
        if name in others:
            cells = [
                f"{one['scores']['test'][source][metric]:.2f} ({others[name][source][metric]})"
                for metric, sources in BESIDE.items()
                for source in sources
            ]
            rows.append([one["language"], one["treebank"].removeprefix("UD_").replace("_", " "), *cells])
    names = [f"{metric}, {source}" for metric, sources in BESIDE.items() for source in sources]
    return table(["language", "treebank", *names], sorted(rows))


RECENT = "transformer"
MODELS = {"gold words": ("LAS", "UPOS", "UFeats", "Lemmas"), "raw text": ("LAS", "Tokens", "Sentences")}


def models(store: Store) -> str:
    """Test scores of models that were trained on recent releases, means of the seeds, beside published ones."""
    found: dict[tuple[str, str, str], list[Any]] = {}
    for key, one in store.files["models"].items():
        release, treebank, name, _ = key.split("/")
        if name == RECENT:
            found.setdefault((treebank, release, name), []).append(one["scores"]["test"])
    rows = [
        [
            f"{treebank.removeprefix('UD_')}, {release.removeprefix('UD ')}",
            f"`{name}`",
            str(len(scores)),
            *_means(scores),
        ]
        for (treebank, release, name), scores in found.items()
    ]
    others = store.printed["recent"]
    for treebank in sorted({treebank.removeprefix("UD_") for treebank, _, _ in found} & set(others["cells"])):
        cells = (others["cells"][treebank][source][metric] for source, metrics in MODELS.items() for metric in metrics)
        rows.append([f"{treebank}, {others['release']}", others["system"], "published", *cells])
    names = [f"{metric}, {source}" for source, metrics in MODELS.items() for metric in metrics]
    return table(["", "model", "seeds", *names], rows)


def _means(scores: Sequence[Any]) -> list[str]:
    cells = ((source, metric) for source, metrics in MODELS.items() for metric in metrics)
    found = ([one[source][metric] for one in scores if source in one] for source, metric in cells)
    return [f"{mean(values):.2f}" if values else "–" for values in found]


SEGMENTATION = ("Tokens", "Words", "Sentences")


def segmentation(store: Store) -> str:
    """F1 on test from raw text: segmenters, and in brackets UDPipe's tokenizer, where it was trained."""
    rows, others = [], store.files["segmentation"]
    found = {code: one | {"own": one["scores"]["test"]["raw text"]} for code, one in store.files["packaged"].items()}
    found |= {key: one | {"own": one["own"]["test"]} for key, one in others.items() if "own" in one}
    for key, one in found.items():
        own, other = one["own"], others.get(key)
        beside = {metric: f" ({other['scores']['test'][metric]:.2f})" if other else "" for metric in SEGMENTATION}
        cells = [f"{own[metric]:.2f}{beside[metric]}" for metric in SEGMENTATION]
        rows.append([one["treebank"].removeprefix("UD_").replace("_", " "), *cells])
    return table(["", *SEGMENTATION], sorted(rows))


GRAPHS = ("paths", "delta", "graph-2p", "graph-18-bit", "copy")


def graphs(store: Store) -> str:
    """ELAS and EULAS on test with gold words, means of the seeds, and their shares of LAS."""
    rows = []
    for treebank in dict.fromkeys(key.split("/")[0] for key in store.files["graphs"]):
        for encoding in GRAPHS:
            found = [
                one["scores"]["test"][encoding]
                for key, one in store.files["graphs"].items()
                if key.startswith(f"{treebank}/") and encoding in one["scores"]["test"]
            ]
            if found:
                means = {metric: mean(percent(one[metric]) for one in found) for metric in found[0]}
                shares = (f"{means[one]:.2f} ({100 * means[one] / means['LAS']:.1f} %)" for one in ("ELAS", "EULAS"))
                name = encoding if encoding != "copy" else "none: the tree again"
                rows.append([treebank.removeprefix("UD_"), name, f"{means['LAS']:.2f}", *shares])
    return table(["", "labels", "LAS", "ELAS", "EULAS"], rows)


def parsers(part: str, store: Store) -> str:
    """A table of what `benchmarks.parsers` has measured."""
    if not _is_current(store, "speed"):
        return NOT_MEASURED
    return _sheet(next(one for one in sheets(store.files["speed"]) if one.title == part))


def measured_systems(store: Store) -> list[dict[str, Any]]:
    """All parsers that were measured; those of Biplanar only if it was with today's code."""
    systems, is_current = store.files["speed"]["systems"], _is_current(store, "speed")
    return [one for one in systems if one["not_measured"] is None and (is_current or one["kind"] != "biplanar")]


def core(part: str, store: Store) -> str:
    """A table of what `benchmarks.core` has measured."""
    found = store.files["core"]
    made = {
        "reading": reading_sheet(found["reading"]),
        "labels": labels_sheet(found["labels"]),
        "compiling": compiling_sheet(found["compiling"]),
        **dict(zip(CORE_GROWTH, growth_sheets(found["growth"]), strict=True)),
    }
    return _sheet(made[part])


def _sheet(sheet: Sheet) -> str:
    return table(sheet.columns, sheet.rows) + (f"\n\n{sheet.note}" if sheet.note else "")


def _is_current(store: Store, name: str, *parts: str) -> bool:
    """Whether a stored file is of today's code, as far as it depends on these parts of it (or on all)."""
    code = store.files[name]["fingerprint"]["code"]
    return all(code.get(part) == CODE[part] for part in parts or CODE)


def search(store: Store) -> str:
    """Speed and accuracy of decoders and beams on scores of the bundled model."""
    if not _is_current(store, "search"):
        return NOT_MEASURED

    def rows() -> Iterator[Row]:
        for name, row in store.files["search"]["beams"].items():
            outcome = [f"{100 * row['outcome'][one] / row['sentences']:.2f} %" for one in ("argmax", "widened", "lost")]
            speed = f"{round(row['words_per_second'], -3):,.0f}"
            yield [name, speed, f"{row['uas']:.2f}", f"{row['las']:.2f}", *(outcome if name != "greedy" else ["–"] * 3)]

    return table(["decoder, beam", "words/s", "UAS", "LAS", "decided at once", "widened", "lost"], rows())


def search_lengths(store: Store) -> str:
    """The slowest of ten sentences of each length, in milliseconds."""
    if not _is_current(store, "search"):
        return NOT_MEASURED
    lengths = store.files["search"]["lengths"]
    return table(["words", *lengths], [["slowest of ten, ms", *(f"{1000 * one:.1f}" for one in lengths.values())]])


def search_stages(store: Store) -> str:
    """Microseconds a word of decoding and of its stages."""
    if not _is_current(store, "search") or "stages" not in store.files["search"]:
        return NOT_MEASURED
    rows = ([name, f"{one:.2f}"] for name, one in store.files["search"]["stages"].items())
    return table(["one core, English-EWT test", "µs a word"], rows)


def start(store: Store) -> str:
    """Where the time of a first answer goes, in milliseconds."""
    if "start" not in store.files or not _is_current(store, "start"):
        return NOT_MEASURED
    found = store.files["start"]
    rows = {"from start to answer": found["seconds"]["this"]}
    rows |= {f"imports: {name}": one for name, one in found["imports"].items()}
    return table(["`biplanar parse --text`", "ms"], ([name, f"{1000 * one:.0f}"] for name, one in rows.items()))


def raw(store: Store) -> str:
    """Speed on raw text, and on the same words."""
    if not _is_current(store, "raw-text"):
        return NOT_MEASURED
    return _sheet(*raw_text_sheets(store.files["raw-text"]))


def gpu(store: Store) -> str:
    """Parsing on a GPU, as a whole and part by part."""
    if not _is_current(store, "gpu", "network", "arcs"):
        return NOT_MEASURED
    found = store.files["gpu"]
    wholes = {name: found[name] for name in ("tagging and decoding", "file to file")}
    rows = (
        [name, f"{row['seconds']:.2f}", *(f"{row[f'{what}_per_second']:,.0f}" for what in COUNTED)]
        for name, row in (wholes | {f"{name}, alone": row for name, row in found["parts"].items()}).items()
    )
    return table(["", "seconds", *(f"{what}/s" for what in COUNTED)], rows)


def training(store: Store) -> str:
    """How fast configurations train, on a GPU and on two cores, and what a whole training takes."""
    names = [name for name in ("training-gpu", "training-cpu") if name in store.files]
    if not names or not all(_is_current(store, name, "network") for name in names):
        return NOT_MEASURED

    def rows() -> Iterator[Row]:
        for found in (store.files[name] for name in names):
            for config, row in ((config, rows["this"]) for config, rows in found["configs"].items()):
                where = f"{found['threads']} cores" if row["device"] == "cpu" else row["device"]
                treebank = found["file"].partition("-ud-")[0]
                sizes = [treebank, f"{row['words']:,}", f"{row['epochs']:,}"]
                yield [f"`{config}`, {where}", *sizes, f"{row['words_per_second']:,.0f}", f"{row['minutes']:.0f}"]

    return table(["", "treebank", "words", "epochs", "words/s", "minutes"], rows())


USUAL = "bundled int8 search"  # how the bundled model parses unless it is told
COUNTED = ("sentences", "words")
CORE_GROWTH = ("projective trees", "locally crossing trees", "random trees", "long sentences")
PARSER_PARTS = {"systems": "Accuracy and speed", "stages": "Stages", "workers": "Workers"}
TABLES: dict[str, Callable[[Store], str]] = {
    "verdicts": verdicts,
    **PAPER_TABLES,
    "arcs": partial(arcs, "LAS"),
    **{f"arcs, crossing {name}": partial(arcs, metric) for metric, name in CROSSING.items()},
    "arcs, decoders": arc_decoders,
    "columns": columns,
    "columns, published": published,
    "encodings": encodings,
    "encodings, sizes": encoding_sizes,
    "labels": labels,
    "bundled model": bundled,
    "packaged models": packaged,
    "packaged models, published": packaged_beside_published,
    "models": models,
    "segmentation": segmentation,
    "graphs": graphs,
    "search": search,
    "search, lengths": search_lengths,
    "search, stages": search_stages,
    "start": start,
    "raw text": raw,
    "gpu": gpu,
    "training": training,
    **{f"core, {part}": partial(core, part) for part in ("reading", "labels", "compiling", *CORE_GROWTH)},
    **{f"parsers, {part}": partial(parsers, title) for part, title in PARSER_PARTS.items()},
}


def _search_gains(store: Store) -> dict[str, str]:
    """What `search` adds to the decoder `paper` on average over the treebanks, least and most by encoding."""
    paper, search = (
        [mean(ours(store, one, name, "test", "LAS", decoder).mean for one in TREEBANKS) for name in ENCODINGS]
        for decoder in ("paper", "search")
    )
    gains = [one - other for one, other in zip(search, paper, strict=True)]
    return {"search gains": f"{min(gains):.1f} to {max(gains):.1f}"}


def _encoding_gaps(store: Store) -> dict[str, str]:
    """How far the best encoding with arcs is above `2p-full`, and how far seeds of one encoding are apart at most."""
    las = {name: mean(row["las"].values()) for name, row in store.files["encodings-decoded"]["encodings"].items()}
    apart = []
    for encoding in COMPARED:
        cells = [ENCODING_COLUMNS[3].cell(store, "encodings", code, encoding, "dev") for code in COMPARED_CODES]
        seeds = [mean(values) for values in zip(*(one.values for one in cells if one is not None), strict=True)]
        apart.append(max(seeds) - min(seeds))
    return {
        "encodings, best over 2p-full": f"{max(las.values()) - las['2p-full']:.2f}",
        "encodings, seeds": f"{max(apart):.2f}",
    }


def _teaching(store: Store) -> dict[str, str]:
    """LAS on test with gold words of `fast`, and by how much the bundled model is better, which had teachers."""
    alone = {
        name: mean(
            percent(one["scores"]["test"][encoding]["LAS"])
            for key, one in store.files["graphs"].items()
            if key.startswith(f"UD_English-EWT/{network}/")
        )
        for name, network, encoding in (("fast", "paths", "paths"), ("fast without graphs", "none", "copy"))
    }
    taught = store.files["packaged"]["en"]["scores"]["test"]["gold words"]["LAS"]
    return {f"{name} LAS, EWT 2.16": f"{value:.2f}" for name, value in alone.items()} | {
        "bundled over fast": f"{taught - alone['fast']:.2f}"
    }


def _speed(store: Store) -> dict[str, str]:
    """How many times as fast as UDPipe 1 the bundled model is, and on what."""
    speeds = {one["name"]: one["words_per_second"]["best"] for one in measured_systems(store)}
    found = {"speed, processor": store.files["speed"]["machine"]["processor"]}
    if {USUAL, UNIT} <= speeds.keys():
        found["bundled, times UDPipe 1"] = f"{speeds[USUAL] / speeds[UNIT]:.1f}"
    return found


def figures(store: Store) -> dict[str, str]:
    """Single figures for prose, by name."""
    found = {
        "int8 over PyTorch": int8_ratio(store),
        "paper runs": f"{len(store.studies['paper'])}",
        "planned paper runs": f"{len(STUDIES['paper'].runs)}",
    }
    shipped = store.files["packaged"]["en"]
    for split, sources in shipped["scores"].items():
        for source, scores in sources.items():
            found |= {f"bundled {metric}, {split}, {source}": f"{value:.2f}" for metric, value in scores.items()}
    found["bundled MB"] = f"{shipped['bytes'] / 1e6:.1f}"
    for decoder in ("paper", "search"):
        *two, one = (
            ours(store, GREEK, name, "test", "LAS", decoder, "gold words").mean for name in (*TWO_PLANES, ONE_PLANE)
        )
        found[f"Ancient Greek, two planes, {decoder}"] = f"{mean(two) - one:.1f}"
    found |= _search_gains(store) | _teaching(store) | _speed(store)
    means = arc_means(store)
    for name, by_code in means.items():
        found |= {f"{code} {name}": f"{value:.2f}" for code, value in by_code.items()}
        found[f"mean {name}"] = f"{mean(by_code.values()):.2f}"
    if "both" in means:
        found |= {
            f"both over {name}": f"{mean(means['both'].values()) - mean(means[name].values()):.2f}"
            for name in means
            if name != "both"
        }
    found |= _encoding_gaps(store)
    for name, one in store.files["search"]["calibration"].items():
        found[f"calibration error, {name}"] = f"{one['ece']:.3f}"
    if _is_current(store, "load"):
        found["under load"] = f"{100 * store.files['load']['ratio']:.0f} %"
    if "training-whole" in store.files and _is_current(store, "training-whole", "network"):
        whole = store.files["training-whole"]
        found["whole training, minutes"] = f"{whole['seconds'] / 60:.0f}"
        found["whole training, LAS"] = f"{whole['scores']['test, gold words']['LAS']:.2f}"
    return found
