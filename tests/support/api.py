"""API.md, generated from the list of public names and their docstrings."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from inspect import cleandoc

from support.folders import ROOT
from support.references.markdown import code, table

FACES = (
    "harbor",
    "harbor.evaluation",
    "harbor.games",
    "harbor.graphs",
    "harbor.memory",
    "harbor.personas",
    "harbor.testing",
)
"""The modules that define the public names, beside `harbor.events`."""
PAGE = ROOT / "API.md"
HEAD = """# Public names

What you may import. Everything else stands in folders whose names begin with an underscore, and may change at any time.
`make references` writes this page anew.
"""
ALIASES = {  # type aliases and constants have no own docstring
    "CENT": "One cent, as a Decimal.",
    "Name": "A name in settings, of at most 80 characters that can be spoken.",
    "Share": "A share in settings: above 0, at most 1.",
    "Action": "What the rules settle: a bid or a withdrawal.",
    "Claim": "An amount in dollars that somebody said; it may be wrong, and finer than a cent.",
    "Event": "A public event, a shared one, a private one, or one for the analyst.",
    "HOUSE": "Who pays or is paid where no bidder is: an empty name.",
    "Money": "Any amount in dollars, exact to the cent, a loss included.",
}


def page() -> str:
    """Return the page as it should be."""
    return "\n".join([HEAD, *(line for module in [*FACES, "harbor.events"] for line in _section(module))]) + "\n"


def _section(module: str) -> Iterator[str]:
    face = import_module(module)
    yield f"## `{module}`\n"
    yield (face.__doc__ or "").strip() + "\n"
    names = [name for name in face.__all__ if not name.startswith("__")]
    yield from table(("name", "what it is"), ((code(name), _sentence(name, getattr(face, name))) for name in names))


def _sentence(name: str, thing: object) -> str:
    own = thing.__doc__ if isinstance(thing, type) or thing.__doc__ != type(thing).__doc__ else None
    text = ALIASES.get(name) or cleandoc(own or "")
    assert text, f"{name} has no docstring; describe it in ALIASES"
    return text.split("\n\n")[0]
