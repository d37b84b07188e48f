"""Conformance suites for each kind of extension, which any author can run; they raise AssertionError."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor.testing._experiments import check_experiment as check_experiment
    from harbor.testing._experiments import check_figure as check_figure
    from harbor.testing._extensions import check_catalogue as check_catalogue
    from harbor.testing._extensions import check_metric as check_metric
    from harbor.testing._extensions import check_policy as check_policy
    from harbor.testing._games import check_game as check_game
    from harbor.testing._leaks import check_secrets as check_secrets
    from harbor.testing._nodes import check_node as check_node
    from harbor.testing._rules import check_rules as check_rules
    from harbor.testing._rules import replay as replay
    from harbor.testing._seats import check_agent as check_agent
    from harbor.testing._seats import check_model as check_model
    from harbor.testing._seats import check_seat as check_seat
    from harbor.testing._stores import check_store as check_store

__getattr__, __all__ = face(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
