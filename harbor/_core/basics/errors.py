"""The errors that a user of Harbor can meet; each message is one line with the cause, the value and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class HarborError(Exception):
    """The base class of all errors that Harbor raises on purpose.

    The command line prints the message of such an error and exits with 2, or with 75 if the error is `RunPaused`.

    >>> issubclass(ModelError, HarborError) and issubclass(RunPaused, HarborError)
    True
    """


class ConfigError(HarborError):
    """A setting is unknown, missing or out of range."""


class UnknownName(ConfigError):
    """A setting names an extension, such as a game or a model, that does not exist."""


class LogError(HarborError):
    """A log can't be used: the file is missing, was edited, or has the format of another version of Harbor."""


class RunFolderError(HarborError):
    """The folder of a run exists already, or it can't be read or written."""


class ModelError(HarborError):
    """A model can't be asked: its provider refuses the key, the model or a setting; the message quotes the provider."""


class KeyRefused(ModelError):
    """A provider refuses a key or the account of the key; another key may work."""


class PromptTooLong(ModelError):
    """A prompt is longer than its model allows; shorter prompts of the same run may still be answered."""


class Unanswered(ModelError):
    """A run has ended without a usable answer of one of its models, so that the run is no result of that model."""


class NoReply(HarborError):
    """A bidder has got no usable reply from its model, and plays on without the reply."""


class UnreadableReply(NoReply):
    """A model answered, but even after the allowed number of retries its reply could not be used."""


class CallFailed(NoReply):
    """A provider did not answer a call, and the settings say to play on without it."""


class RunPaused(HarborError):
    """A run has stopped and can be resumed: a provider can't be reached, or the run has reached its limit of cost."""


class TooSlow(RunPaused):
    """Several requests of one call to a model were not answered in time."""


class LimitReached(RunPaused):
    """A run has reached its limit of cost; it can be resumed with a higher limit."""


class MemoryStoreError(HarborError):
    """A store of memories can't be opened, read or written, or refuses a value."""


class CodeError(HarborError):
    """The code of a user's thought node has a mistake; the run ends, as the bidder would play otherwise without it."""


class CacheError(HarborError):
    """Replies in the cache can't be exported or imported, or a reply in a file does not belong to its address."""


class RatingError(HarborError):
    """A rating sheet can't be made, read or merged."""


def unknown(kind: str, value: str, known: Iterable[str], none: str = "none is defined") -> str:
    """Return a message that a name is unknown, with the most similar known name.

    If no known name is similar, the message lists all known names; if there are none, it ends with `none`.

    >>> unknown("persona", "urban-dweller", ["urban-dwellers", "downsizing"])
    "unknown persona 'urban-dweller'; did you mean 'urban-dwellers'?"
    """
    names = sorted(known)
    nearest = get_close_matches(value, names, n=1, cutoff=0.5)
    choice = f"choose one of: {', '.join(names)}" if names else none
    return f"unknown {kind} {value!r}; {f'did you mean {nearest[0]!r}?' if nearest else choice}"
