"""The Vietnamese model of Biplanar: `biplanar.load("vi")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
