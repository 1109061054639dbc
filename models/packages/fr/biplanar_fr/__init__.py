"""The French model of Biplanar: `biplanar.load("fr")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
