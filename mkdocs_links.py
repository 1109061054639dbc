"""A hook of the site: links to files of the repository that are not part of it become their paths."""

from __future__ import annotations

import re
from typing import Any

OUTSIDE = re.compile(r"\[(?P<text>[^\]]+)\]\(\.\./(?P<path>[^)#]+)[^)]*\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Say where the file is instead."""
    return OUTSIDE.sub(_path, markdown)


def _path(link: re.Match[str]) -> str:
    name = f"`{link['path']}` in the repository"
    return name if link["text"] in link["path"] else f"{link['text']} ({name})"
