"""The Maltese model of Biplanar: `biplanar.load("mt")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
