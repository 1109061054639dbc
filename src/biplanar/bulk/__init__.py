"""Whole corpora: chunks in, chunks out, and the engines that run them."""

from biplanar.bulk.chunks import Source
from biplanar.bulk.engines import ENGINES, Engine, EngineConfig, Processes, ThisProcess, make_engine
from biplanar.bulk.files import parse_files
from biplanar.bulk.frames import FrameTask
from biplanar.bulk.shards import Plan, named_files
from biplanar.bulk.task import Task
from biplanar.data.compression import content_size

__all__ = [
    "ENGINES",
    "Engine",
    "EngineConfig",
    "FrameTask",
    "Plan",
    "Processes",
    "Source",
    "Task",
    "ThisProcess",
    "content_size",
    "make_engine",
    "named_files",
    "parse_files",
]
