"""The Irish model of Biplanar: `biplanar.load("ga")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
