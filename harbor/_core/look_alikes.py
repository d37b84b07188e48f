"""How a name looks: names that look alike can't be told apart by who reads them, be it a person or a model.

Unicode writes one letter in several ways (NFKD makes them one), and has letters of other scripts in the shapes of Latin
ones. Source: Unicode Technical Standard 39, confusables.txt; of its letters, those of Greek and Cyrillic.
"""
# ruff: noqa: RUF001 - letters that look alike are what this file is about

from __future__ import annotations

from unicodedata import normalize

_GREEK = {"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ": "ABEZHIKMNOPTYX", "αγιορνυϳ": "ayiopvuj"}
_CYRILLIC = {"АВЕЅІЈКМНОРСТУХҮԌԚԜӀ": "ABESIJKMHOPCTYXYGQWI", "асеһіјорԛѕԝхуүԁѵ": "acehijopqswxyydv"}
_LATIN = {
    ord(shape): latin
    for letters in (_GREEK, _CYRILLIC)
    for shapes, latins in letters.items()
    for shape, latin in zip(shapes, latins, strict=True)
}


def look_of(name: str) -> str:
    r"""Give one text for all names that look alike, whatever the case of their letters.

    >>> look_of("Zoë") == look_of("ZOE\u0308"), look_of("Ann") == look_of("\u0410nn"), look_of("Ann") == look_of("An")
    (True, True, False)
    """
    return normalize("NFKD", name).translate(_LATIN).casefold()


def looks_of(name: str) -> set[str]:
    r"""Give the texts of which two names that look alike share one: most letters have a Latin shape in one case alone.

    >>> looks_of("\u041a\u0430\u0442\u044f") & looks_of("\u043a\u0430\u0442\u044f") != set()
    True
    """
    return {look_of(name), normalize("NFKD", name).casefold()}
