"""The figures of an experiment as files for a paper, each with its caption in a file beside it."""

from __future__ import annotations

from pathlib import Path

from harbor._core.how_far import steps
from harbor._core.private_files import write_whole
from harbor.evaluation._report.canvas import Drawing
from harbor.evaluation._report.figures import Way, in_a_name, means_name, way_of_means, ways_to_draw
from harbor.evaluation._report.formatting import legible
from harbor.evaluation._report.intervals import drawable
from harbor.evaluation._report.loading import Loaded
from harbor.evaluation._report.paper_tables import SIMULATED
from harbor.evaluation._report.picture import WIDTHS, pictures
from harbor.evaluation._report.tables import asked
from harbor.evaluation._report.tex import escaped


def drawings(loaded: Loaded, only: str = "") -> dict[str, Drawing]:
    """Draw the figures of an experiment by the names of their files: those of its report, and means of each metric.

    Args:
        loaded: the experiment.
        only: the figure that is drawn alone; empty: all are.
    """
    ways = _ways(loaded)
    drawn = {name: ways[name].draw() for name in ([only] if only else ways) if name in ways}
    return {name: drawing for name, drawing in drawn.items() if drawing is not None}


def names(loaded: Loaded) -> dict[str, str]:
    """Name the figures of an experiment with what each asks or shows, and draw none.

    Of a figure that is rare, drawing may find that there is nothing to show.
    """
    there = {"differences": bool(loaded.experiment.comparisons), "trueskill": loaded.experiment.trueskill}
    there |= {means_name(one): bool(drawable(loaded, one)[0]) for one in asked(loaded.experiment)}
    return {name: way.says for name, way in _ways(loaded).items() if there.get(name, True)}


def _ways(loaded: Loaded) -> dict[str, Way]:
    return ways_to_draw(loaded) | {
        means_name(one): way for one in asked(loaded.experiment) if (way := way_of_means(loaded, one)) is not None
    }


def write_figure(loaded: Loaded | None, drawing: Drawing, file: Path, form: str, width: str) -> list[Path]:
    """Write a figure into a file, and its caption beside it: ready for LaTeX, or as text beside an SVG.

    The caption of a figure of a single run (`loaded` is None) says itself that it is simulated.
    Where it has several pages, each is a file, numbered from 1: `NAME-1.pdf`, `NAME-2.pdf`.

    Returns:
        each file, followed by that of its caption, whose name ends in `-caption`.

    Raises:
        ConfigError: it can't be drawn.
        OSError: a file can't be written.
    """
    [painted] = [pictures(one, form, WIDTHS[width]) for one in steps([drawing], "figures drawn")]
    file.parent.mkdir(parents=True, exist_ok=True)
    written = []
    for number, (data, page) in enumerate(painted, 1):
        own = file.with_name(f"{file.stem}-{number}{file.suffix}") if page else file
        write_whole(own, data, private=False)
        said = caption(loaded, drawing, WIDTHS[width], page)
        words, ending = (said, ".txt") if form == "svg" else (_tex(own, said, width), ".tex")
        beside = own.with_name(f"{own.stem}-caption{ending}")  # NAME.tex may be the manuscript
        write_whole(beside, f"{words}\n".encode(), private=False)
        written += [own, beside]
    return written


def caption(loaded: Loaded | None, drawing: Drawing, inches: float, page: str = "") -> str:
    """Say in one paragraph what a figure of this width shows, and of what, and which page of it this is."""
    left = f"{drawing.left_out} more panels are left out." if drawing.left_out else ""
    title = legible(drawing.title).rstrip(".") + "."
    title = title[0].upper() + title[1:]
    simulated = SIMULATED * (loaded is not None and loaded.results.simulated)
    return legible(" ".join(filter(None, (title, drawing.reading(inches), left, simulated, page))))


def _tex(file: Path, said: str, width: str) -> str:
    """Write the figure environment that shows a file; a figure as wide as a page spans both columns."""
    kind, wide = ("figure*", r"\textwidth") if width == "page" else ("figure", r"\columnwidth")
    label = in_a_name(file.stem)
    return "\n".join(
        (
            "% needs \\usepackage{graphicx}",
            rf"\begin{{{kind}}}",
            r"  \centering",
            rf"  \includegraphics[width={wide}]{{{file.name}}}",
            rf"  \caption{{{escaped(said)}}}",
            rf"  \label{{fig:{label}}}",
            rf"\end{{{kind}}}",
        )
    )
