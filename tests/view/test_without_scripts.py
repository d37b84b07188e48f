"""A page in a browser without JavaScript: a still picture and a table of events."""

from __future__ import annotations

import re

import pytest

from harbor._view.pages import page_of, write_run
from harbor._view.run_data import run_page
from harbor._view.still import MOST_ROWS, Still
from support.browser import browser, needs_browser
from support.canaries import *  # noqa: F403
