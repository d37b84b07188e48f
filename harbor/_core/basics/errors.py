"""The errors that a user of Harbor can cause; each names the thing, the value and the remedy in one line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class HarborError(Exception):
    """Harbor refuses something; the command line prints it as one line and exits with 2.

    >>> issubclass(ModelError, HarborError) and issubclass(RunPaused, HarborError)
    True
    """


class ConfigError(HarborError):
    """A setting is unknown, missing or out of range."""


class UnknownName(ConfigError):
    """No value has that name."""


class LogError(HarborError):
    """A log can't be read: missing, edited, or written by a newer Harbor."""


class RunFolderError(HarborError):
    """The folder of a run exists already, or it can't be read or written."""


class ModelError(HarborError):
    """A model can't be asked: its provider refuses the key, the model or a setting, in the words of the message."""


class KeyRefused(ModelError):
    """A provider refuses a key or its account; another key may work."""


class PromptTooLong(ModelError):
    """A prompt is longer than a model takes; other prompts may fit."""


class Unanswered(ModelError):
    """A run ended in which no call of a model was answered, or no answer could be used; it is no result."""


class NoReply(HarborError):
    """A bidder goes on without a reply of its model."""


class UnreadableReply(NoReply):
    """A model answered, but its reply was unusable after the allowed repairs."""


class CallFailed(NoReply):
    """A provider did not answer a call, and the settings say to play on without it."""


class RunPaused(HarborError):
    """A run has stopped where it can be resumed: a provider can't be reached, or a limit of cost is reached."""


class TooSlow(RunPaused):
    """Several requests of one call to a model were not answered in time."""


class LimitReached(RunPaused):
    """A run has reached its limit of cost; it goes on with more money."""


class MemoryStoreError(HarborError):
    """A memory can't be opened, read or written, or refuses a value."""


class CodeError(HarborError):
    """The code of a declared thought has a mistake; play without the thought would not be the bidder's."""


class CacheError(HarborError):
    """Kept replies can't be exported or imported, or a file has another content than it claims."""


class RatingError(HarborError):
    """A rating sheet can't be made, read or merged."""


def unknown(kind: str, value: str, known: Iterable[str], none: str = "none is defined") -> str:
    """Say that a name is unknown, and name the nearest known one.

    >>> unknown("persona", "urban-dweller", ["urban-dwellers", "downsizing"])
    "unknown persona 'urban-dweller'; did you mean 'urban-dwellers'?"
    """
    names = sorted(known)
    nearest = get_close_matches(value, names, n=1, cutoff=0.5)
    choice = f"choose one of: {', '.join(names)}" if names else none
    return f"unknown {kind} {value!r}; {f'did you mean {nearest[0]!r}?' if nearest else choice}"
