"""The Scottish Gaelic model of Biplanar: `biplanar.load("gd")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
