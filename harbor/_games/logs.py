"""Reads the logs of all games. The log itself knows no game, so this registers the events of each."""

from __future__ import annotations

from harbor._core.log import read_log, read_whole_lines
from harbor._core.log_lines import know
from harbor._games.beauty import rules as beauty
from harbor._games.english_private import rules as english_private
from harbor._games.first_price import rules as first_price
from harbor._games.second_price import rules as second_price
from harbor._games.sessions import private_values, session
from harbor._games.water import rules as water

__all__ = ["read_log", "read_whole_lines"]

know(water, session, private_values, second_price, first_price, english_private, beauty)
