"""Trees as pictures: in the terminal, as SVG, on a page."""

from biplanar.draw.images import image_of, save_image
from biplanar.draw.layout import columns_of
from biplanar.draw.page import draw_page
from biplanar.draw.sentences import Entry, draw_comparison, draw_sentence, draw_sentences, paired
from biplanar.draw.svg import draw_svg
from biplanar.draw.terminal import draw_tree

__all__ = [
    "Entry",
    "columns_of",
    "draw_comparison",
    "draw_page",
    "draw_sentence",
    "draw_sentences",
    "draw_svg",
    "draw_tree",
    "image_of",
    "paired",
    "save_image",
]
