"""What power is asked for: plain numbers, so that they are checked before statistics are imported."""

from __future__ import annotations

from dataclasses import dataclass

from harbor._core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Question:
    """What to find: an effect in the unit of the metric, with this probability (`power`), at this level (`alpha`)."""

    effect: float
    power: float = 0.8
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.effect == 0 or not abs(self.effect) < float("inf"):
            raise ConfigError(f"effect {self.effect!r}: no number of games finds that; give a difference other than 0")
        if not 0 < self.alpha < self.power < 1:
            raise ConfigError(
                f"alpha {self.alpha!r}, power {self.power!r}: give an alpha above 0, and a power above it and below 1"
            )
