"""The Korean model of Biplanar: `biplanar.load("ko")`."""

from pathlib import Path

FOLDER = Path(__file__).parent / "model"
