"""Jobs of many requests, which are answered later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.providers.speech import Trouble
from support.providers.wire import Question, Reply


class Batches:
    """The jobs of a provider."""

    def __init__(self, answer: Callable[..., Any], polls: Callable[[], float]) -> None:
        self._answer, self._polls = answer, polls

    def reply(self, question: Question) -> Reply:
        raise Trouble(404, "path", f"Invalid URL ({question.method} {question.path})")
