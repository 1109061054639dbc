"""The Armenian model of Biplanar: `biplanar.load("hy")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
