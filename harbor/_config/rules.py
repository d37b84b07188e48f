"""Settings of the rules that all games share. Each game adds a class of its own, in its folder."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, SerializeAsAny

from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.finding import asked
from harbor._core.settings import Settings

DEFAULT = "english"
"""Game that is played when settings name none: the ascending auction."""


class RuleSettings(Settings):
    """The base class for the settings of a game's rules; it has the settings that all games share.

    >>> EnglishRules().told()["game"]
    'english'

    Attributes:
        reasks: Number of times that a bidder is asked again after a failed bid.
        game: The name of the game, or its reference "package.module:NAME". In the settings of each game, that game's
            name is the default.
    """

    public: ClassVar[frozenset[str]] = frozenset({"game", "reasks"})

    reasks: int = Field(3, ge=0, le=20)
    game: str = ""

    def told(self) -> dict[str, Any]:
        """Return the settings that everyone may know, as a dictionary from their names to JSON values."""
        return self.model_dump(mode="json", include=set(self.public))


def rules_of(given: Any) -> Any:
    """Make the settings of the game that `given` names by `game`; if it names none, of the ascending auction.

    Raises:
        ValueError: there is no such game, or the settings belong to another game.
    """
    if isinstance(given, dict):
        rules: RuleSettings = _class_of(given.get("game", DEFAULT)).model_validate(given)
        return rules
    if isinstance(given, RuleSettings) and not isinstance(given, _class_of(given.game)):
        raise ValueError(f"{type(given).__name__} are no settings of the game {given.game!r}; drop game")
    return given


def _class_of(game: object) -> type[RuleSettings]:
    if not isinstance(game, str):
        raise ValueError(f"game {game!r} is no name; write a text in quotes")
    try:
        settings: type[RuleSettings] = asked("game", game).settings
    except ConfigError as error:
        raise ValueError(str(error)) from error
    return settings


AnyRules = Annotated[SerializeAsAny[RuleSettings], BeforeValidator(rules_of)]
"""The settings of one game, as an object of the game's own class."""
