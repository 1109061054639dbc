"""Biplanar as a part of other libraries."""
