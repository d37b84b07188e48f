"""Records the asks of sales and their settled actions while the sales are held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from golden.decisions import FAULT, Act, plain
from harbor._core.asking.decisions import as_reply
from harbor._house.auctioneer import Sale, call


@dataclass
class Witness:
    """The asks of one sale, in words, and the acts with which each turn was settled."""

    sale: Any
    asked: list[str] = field(default_factory=list)
    settled: list[Mapping[str, Act]] = field(default_factory=list)

    @property
    def opened(self) -> Any:
        """The first event of the sale's log, which no other log has."""
        return self.sale.log.entries[0].event


@contextmanager
def witnessing() -> Iterator[list[Witness]]:
    """Record all sales while the context is open."""
    found: dict[int, Witness] = {}
    asks, settle = Sale.asks, Sale.settle

    def of(sale: Any) -> Witness:
        return found.setdefault(id(sale), Witness(sale))

    def asked(sale: Any) -> Any:
        given = asks(sale)
        of(sale).asked += map(call, given)
        return given

    def settled(sale: Any, actions: Mapping[str, Any], *more: Any) -> Any:
        if actions:
            of(sale).settled.append({name: _act(action) for name, action in actions.items()})
        return settle(sale, actions, *more)

    witnesses: list[Witness] = []
    with patch.object(Sale, "asks", asked), patch.object(Sale, "settle", settled):
        yield witnesses
    witnesses += found.values()


def _act(action: Any) -> Act:
    reason = getattr(action, "reason", "declined")
    return plain(as_reply(action)) if reason == "declined" else FAULT if reason == "fault" else f"withdrawn: {reason}"
