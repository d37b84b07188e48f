"""Metrics, measured from the log of a game alone, and their analysis; `load` reads an experiment as pandas frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harbor._core.faces import face

if TYPE_CHECKING:
    from harbor.evaluation._analysis.inverse_planner import inferences as inferences
    from harbor.evaluation._analysis.profiler import best_temperature as best_temperature
    from harbor.evaluation._analysis.profiler import calibration_error as calibration_error
    from harbor.evaluation._metrics.behaviour import acquisitions as acquisitions
    from harbor.evaluation._metrics.behaviour import engagements as engagements
    from harbor.evaluation._metrics.measurement import Measurement as Measurement
    from harbor.evaluation._metrics.measurement import Metric as Metric
    from harbor.evaluation._metrics.measurement import by_bidder as by_bidder
    from harbor.evaluation._metrics.measurement import measured as measured
    from harbor.evaluation._metrics.measurement import metric as metric
    from harbor.evaluation._metrics.plans import priorities as priorities
    from harbor.evaluation._metrics.profiling import judged as judged
    from harbor.evaluation._metrics.profiling import profiling_errors as profiling_errors
    from harbor.evaluation._metrics.strategy import agreement as agreement
    from harbor.evaluation._metrics.strategy import foresights as foresights
    from harbor.evaluation._metrics.strategy import strategies as strategies
    from harbor.evaluation._report.comparing.side_by_side import Compared as Compared
    from harbor.evaluation._report.comparing.side_by_side import compare as compare
    from harbor.evaluation._report.drawing.figure import Figure as Figure
    from harbor.evaluation._report.drawing.figure import figure as figure
    from harbor.evaluation._report.page.notebook_view import load as load
    from harbor.evaluation._report.tabular.loading import Loaded as Loaded

__getattr__, __all__ = face(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
