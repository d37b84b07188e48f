"""Who bids and what is sold: the personas and the houses of the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor.personas._catalog.catalog import houses as houses
    from harbor.personas._catalog.catalog import personas as personas

__getattr__, __all__ = face(__name__)


def __dir__() -> list[str]:
    return __all__
