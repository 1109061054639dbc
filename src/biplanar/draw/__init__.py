"""Trees as pictures."""

from biplanar.draw.terminal import draw_tree

__all__ = ["draw_tree"]
