"""Write every page that is generated from the code again."""

from __future__ import annotations

from support.references.pages import PAGES

for file, made in PAGES.items():
    file.write_text(made(), encoding="utf-8")
