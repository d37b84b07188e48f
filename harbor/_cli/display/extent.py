"""How much of a result is printed."""

from __future__ import annotations

from typing import Literal

Extent = Literal["short", "usual", "full"]
"""Standings alone, also each item, or also what each model was asked."""
