"""Whole corpora: chunks in, chunks out, and the engines that run them."""

from biplanar.bulk.chunks import Source
from biplanar.bulk.engines import ENGINES, Engine, EngineConfig, Processes, ThisProcess, make_engine
from biplanar.bulk.files import parse_files
from biplanar.bulk.task import Task

__all__ = [
    "ENGINES",
    "Engine",
    "EngineConfig",
    "Processes",
    "Source",
    "Task",
    "ThisProcess",
    "make_engine",
    "parse_files",
]
