"""Catalogues of personas, and of items that suit them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor.personas._catalog.catalogue import Catalogue as Catalogue
    from harbor.personas._catalog.catalogue import houses as houses
    from harbor.personas._catalog.catalogue import personas as personas

__getattr__, __all__ = face(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
