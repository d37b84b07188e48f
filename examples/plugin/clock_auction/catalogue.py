"""A small catalogue: two kinds of florist, and the flowers that suit each."""

from __future__ import annotations

from importlib.resources import files

from harbor.personas import Catalogue

FLOWERS = Catalogue.read(files(__package__) / "flowers.toml")
