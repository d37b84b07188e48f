"""Reads the logs of all games. The log itself knows no game, so this registers the events of each."""

from __future__ import annotations

from harbor._core.log import read_log, read_whole_lines
from harbor._core.log_lines import know
from harbor._games import beauty, english_private, first_price, private_values, second_price, session, water

__all__ = ["read_log", "read_whole_lines"]

know(water, session, private_values, second_price, first_price, english_private, beauty)
