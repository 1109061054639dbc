"""The Galician model of Biplanar: `biplanar.load("gl")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
