"""The Lithuanian model of Biplanar: `biplanar.load("lt")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
