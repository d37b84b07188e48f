"""Conformance suites that any author can run; they raise AssertionError with a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor.testing._rules import check_rules as check_rules
    from harbor.testing._stores import check_store as check_store

__getattr__, __all__ = face(__name__)


def __dir__() -> list[str]:
    return __all__
