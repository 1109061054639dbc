"""What pages show of the code: command line, settings of a training, HTTP interface, and labels of each encoding."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any, get_args, get_type_hints

import typer
from benchmarks.output import markdown_table

import biplanar
from biplanar import ENCODINGS, Tree
from biplanar.cli import app
from biplanar.serve import MEBIBYTE, ServerConfig
from biplanar.serve.app import Service
from biplanar.serve.openapi import REFUSALS, describe
from biplanar.tagger.config import AUTO, CONFIGS, NONE, TYPES, Auto, Bounds, Config


def command_line() -> str:
    """Every command with its arguments and options."""
    group = typer.main.get_command(app)
    return "\n\n".join(_command(name, one) for name, one in group.commands.items())  # type: ignore[attr-defined]


def _command(name: str, command: Any) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    parameters = [one for one in command.get_params(context) if not getattr(one, "hidden", False)]
    usage = " ".join(["biplanar", name, *(_usage(one) for one in parameters if one.param_type_name == "argument")])
    text, _, examples = inspect.cleandoc(command.help).partition("\n\n")
    rows = ([_flags(one), _help(one)] for one in parameters if one.name != "help")
    table = markdown_table(["argument or option", ""], rows)
    return f"## {name}\n\n{_joined(text)}\n\n    {usage} [OPTIONS]\n\n{table}\n\n```\n{examples}\n```"


def _usage(argument: Any) -> str:
    name = argument.name.upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _flags(one: Any) -> str:
    if one.param_type_name == "argument":
        return f"`{one.name.upper()}`"
    *others, last = sorted((*one.opts, *one.secondary_opts), key=lambda flag: flag.startswith("--"))
    taken = f" {one.metavar}".rstrip().replace("|", "/")  # a pipe would end the cell
    return ", ".join(f"`{flag}`" for flag in (*others, last + taken))


def _help(one: Any) -> str:
    text = re.sub(r"docs/(\w+)\.md", r"[\1](\1.md)", _escaped(_joined(one.help or "")))
    is_shown = not one.is_flag if one.param_type_name == "option" else True
    if is_shown and one.default not in (None, "", [], ()) and "Default:" not in text:
        text += f" Default: `{_shown(one.default)}`."
    return text + (" Required." if one.required else "")


def _joined(text: str) -> str:
    return " ".join(text.split())


# Settings

Row = tuple[str, str, str, str]


def settings() -> str:
    """All settings with their defaults, and what the configurations change in them."""
    parts = [markdown_table(["setting", "default", "values", ""], [_setting(Config, "encoding", "")])]
    for path, section in _sections(Config, ""):
        single = (one.name for one in fields(section) if not is_dataclass(getattr(section(), one.name)))
        rows = (_setting(section, name, f"{path}.") for name in single)
        parts += [f"### {path}", section.__doc__ or "", markdown_table(["setting", "default", "values", ""], rows)]
    return "\n\n".join(parts)


def _sections(section: Any, path: str) -> Iterator[tuple[str, Any]]:
    """All sections of settings inside another, by their full names."""
    for one in fields(section):
        value = getattr(section(), one.name)
        if is_dataclass(value):
            yield path + one.name, type(value)
            yield from _sections(type(value), f"{path}{one.name}.")


def _setting(section: type, name: str, path: str) -> Row:
    hint = get_type_hints(section, include_extras=True)[name]
    default = getattr(section(), name)
    return f"`{path}{name}`", f"`{_shown(default)}`", _values(hint), _sentence(comments(section)[name])


def _values(hint: Any) -> str:
    """What a setting takes, in words."""
    others = {NoneType: NONE, Auto: AUTO}
    more = "".join(f", or `{text}`" for one, text in others.items() if one in get_args(hint))
    kind = get_args(hint)[0] if more else hint
    if not get_args(kind):
        return TYPES[kind] + more
    kind, bounds = get_args(kind)
    if not isinstance(bounds, Bounds):
        return TYPES[kind] + more
    return f"{'whole, ' if kind is int else ''}{str(bounds).removeprefix(' from ')}{more}"


def configurations() -> str:
    """What each configuration changes in the defaults."""
    defaults = Config().to_flat_dict()
    rows = (
        [
            f"`{name}`",
            ", ".join(
                f"`{key}` {_shown(value)}" for key, value in config.to_flat_dict().items() if value != defaults[key]
            )
            or "the defaults",
        ]
        for name, config in CONFIGS.items()
    )
    return markdown_table(["configuration", "settings"], rows)


def comments(section: type) -> dict[str, str]:
    """What the comment behind each field of a dataclass says of it."""
    lines = re.findall(r"^    (\w+): .*?(?:  # (.*))?$", inspect.getsource(section), re.MULTILINE)
    return dict(lines)


# HTTP


def http() -> str:
    """Every route with the fields of its requests and answers, the statuses of refusals, and the limits."""
    config = ServerConfig()
    described = describe(Service(None, config).operations(), config)  # type: ignore[arg-type]
    return "\n\n".join([*_routes(described), *_refusals(), *_limits(config)])


def _routes(described: Mapping[str, Any]) -> Iterator[str]:
    schemas = described["components"]["schemas"]
    for path, methods in described["paths"].items():
        first = next(iter(methods.values()))
        yield f"## {', '.join(methods).upper()} {path}"
        yield _joined(first["summary"])
        for asked in _asked(methods):
            yield _fields(schemas[asked], "field")
        answer = next(iter(first["responses"]["200"]["content"].values()))["schema"]
        if "$ref" in answer:
            yield from _answer(_name(answer), schemas)


def _asked(methods: Mapping[str, Any]) -> Iterator[str]:
    for one in methods.values():
        for content in one.get("requestBody", {}).get("content", {}).values():
            yield _name(content["schema"])
            return


def _answer(name: str, schemas: Mapping[str, Any]) -> Iterator[str]:
    """The fields of an answer, and those of the objects in it."""
    pending, done = [name], set[str]()
    while pending:
        name = pending.pop(0)
        if name not in done and "properties" in schemas[name]:
            yield _fields(schemas[name], name if done else "answer")
            pending += re.findall(r"'#/components/schemas/(\w+)'", str(schemas[name]))
        done.add(name)


def _fields(schema: Mapping[str, Any], title: str) -> str:
    required = schema.get("required", [])
    rows = (
        [f"`{name}`", _type(one), _description(one, is_answer=title != "field", required=name in required)]
        for name, one in schema["properties"].items()
    )
    return markdown_table([title, "", ""], rows)


def _description(field: Mapping[str, Any], *, is_answer: bool, required: bool) -> str:
    text = _escaped(_joined(field.get("description", "")))
    if "enum" in field and len(field["enum"]) < 8:
        text += f" {', '.join(f'`{one}`' for one in field['enum'])}."
    if is_answer:
        return text.strip()
    default = field.get("default")
    text += " Required." if required else "" if default in (None, "", []) else f" Default: `{_shown(default)}`."
    return text.strip()


def _type(schema: Mapping[str, Any]) -> str:
    """A type of JSON, in short."""
    if "$ref" in schema:
        return _name(schema)
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}" if "items" in schema else "list"
    least, most = schema.get("minimum"), schema.get("maximum")
    bounds = f" from {least:g} to {most:g}" if least is not None and most is not None else ""
    return f"{schema.get('type', 'any')}{bounds}"


def _name(reference: Mapping[str, str]) -> str:
    return reference["$ref"].rpartition("/")[2]


def _refusals() -> Iterator[str]:
    yield "## Refusals"
    yield 'Errors are `{"error": "message"}`; those of `/process` are plain text.'
    yield markdown_table(["status", ""], ([str(status), why] for status, why in REFUSALS.items()))


def _limits(config: ServerConfig) -> Iterator[str]:
    yield "## Limits"
    yield "Those with an option can be changed by [`biplanar serve`](cli.md#serve)."
    said = comments(ServerConfig)
    rows = (
        [f"`{one.name}`", _amount(one.name, getattr(config, one.name)), _sentence(said[one.name])]
        for one in fields(ServerConfig)
        if one.name != "allowed_hosts"
    )
    yield markdown_table(["limit", "default", ""], rows)


def _amount(name: str, value: float) -> str:
    return (
        f"{value // MEBIBYTE:g} MiB"
        if name.endswith("bytes")
        else f"{value:,g}"
        if isinstance(value, float)
        else f"{value:,}"
    )


# Labels

FIGURE_1 = Tree((0, 1, 1, 2, 1, 3), ("root", "nsubj", "obj", "amod", "obl", "advmod"))
TAGS = ("VERB", "NOUN", "NOUN", "ADJ", "NOUN", "ADV")


def labels() -> str:
    """The tree of the paper's Figure 1 in every encoding, and how much of it comes back."""
    return markdown_table(["encoding", "task", *(f"w{n}" for n in range(1, 7)), "heads that come back"], _label_rows())


def _label_rows() -> Iterator[list[str]]:
    for name, encoding in ENCODINGS.items():
        upos = TAGS if encoding.needs_upos else None
        rows = biplanar.encode(FIGURE_1, name, upos=upos)
        heads = biplanar.decode(rows, name, upos=upos).heads
        right = sum(one == other for one, other in zip(heads, FIGURE_1.heads, strict=True))
        for number, task in enumerate(encoding.tasks):
            first = ("", "") if number else (f"`{name}`", "all" if right == len(heads) else f"{right} of {len(heads)}")
            yield [first[0], task, *(f"`{row[number]}`" for row in rows), first[1]]


def _sentence(text: str) -> str:
    return _escaped(text[:1].upper() + text[1:])


def _shown(value: Any) -> str:
    texts: dict[Any, str] = {None: NONE, True: "true", False: "false", "": "none"}
    return (
        texts.get(value, str(value))
        if isinstance(value, bool | str | None)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def _escaped(text: str) -> str:
    """Text of a cell of a table."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


REFERENCES: dict[str, Callable[[], str]] = {
    "command line": command_line,
    "settings": settings,
    "configurations": configurations,
    "HTTP": http,
    "example": labels,
}
