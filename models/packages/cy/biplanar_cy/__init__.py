"""The Welsh model of Biplanar: `biplanar.load("cy")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
