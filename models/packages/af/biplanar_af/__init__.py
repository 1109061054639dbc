"""The Afrikaans model of Biplanar: `biplanar.load("af")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
