"""Whole corpora: chunks in, chunks out, and the engines that run them."""

from biplanar.bulk.chunks import Source
from biplanar.bulk.engines import ENGINES, Engine, EngineConfig, ThisProcess, make_engine
from biplanar.bulk.output import parse_files
from biplanar.bulk.shards import Plan, named_files
from biplanar.bulk.tables import FrameTask
from biplanar.bulk.task import Task

__all__ = [
    "ENGINES",
    "Engine",
    "EngineConfig",
    "FrameTask",
    "Plan",
    "Source",
    "Task",
    "ThisProcess",
    "make_engine",
    "named_files",
    "parse_files",
]
