"""The action spaces: what an ask can be answered with. A new space is a class of its own, and a line here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harbor._core.amounts import Amount, Number, Quantity
from harbor._core.bundles import Bundle
from harbor._core.offers import AcceptOrWait, Choice, Words

Space = Annotated[
    Amount | Number | AcceptOrWait | Choice | Bundle | Quantity | Words,
    Field(discriminator="kind"),
]
"""Any action space, as it is written in JSON: its fields, and its `kind`."""
