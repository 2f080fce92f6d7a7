"""Spans of time as people write them."""

from .read import parse

__all__ = ["parse"]
