"""The Portuguese model of Biplanar: `biplanar.load("pt")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
