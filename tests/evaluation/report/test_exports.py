"""What an experiment found, for other programs: frames, CSV, Parquet, LaTeX, and the command that writes them."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from harbor import __version__
from harbor.evaluation import Loaded, Measurement, load
from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._experiments.design import Comparison, Experiment, Side, Variation
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._report.paper.exports import FRAMES, LONGEST, latex, to_csv, to_latex
from harbor.evaluation._report.paper.figure_files import drawings, write_figure
from harbor.evaluation._report.tabular.formatting import MINUS, NOTHING
from harbor.evaluation._report.tabular.page_parts import Cell, Column, Table
from harbor.evaluation._running.runner import run_experiment
from support.commands import Done, harbor, mistake
from support.folders import cut

SMALL = Experiment(
    name="small", title="A small experiment", question="Does a plan pay?", source="Nobody 2024", repeats=2,
    auction={
        "items": [{"name": name, "start": 1000, "true_value": 2000} for name in ("Lot A", "Lot B")],
        "bidders": [{"name": name, "budget": 4000, "model": "@1"} for name in ("Ann", "Ben")],
    },
    arms=(Variation(name="adaptive"), Variation(name="none", auction={"bidders": {"*": {"planning": "none"}}})),
    metrics=("profit", "remaining_budget", "bids", "priority_initial"),
    correlations=(("priority_initial", "bids"),), trueskill=True,
    comparisons=(Comparison(metric="profit", of=Side(arm="adaptive"), against=Side(arm="none")),),
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A small experiment, held for real."""
    path = tmp_path_factory.mktemp("experiments") / "small"
    asyncio.run(run_experiment(SMALL, path))
    return path


def written(*words: object, to: Path) -> Done:
    """Write a report, which says only where it is."""
    done = harbor("report", *words)
    assert (done.returncode, done.stdout.strip()) == (0, str(to)), done.stderr
    return done


def ended(bidder: str, *values: Measurement, player: str = "simulated", **changes: object) -> TrialRecord:
    played = {"players": ((bidder, player),), "measurements": values}
    return TrialRecord("none", "all", 1, 7, "finished", **played | changes)


def test_the_frames_hold_what_the_analysis_says(folder):
    loaded = load(folder)
    said = analyse(loaded.results)
    kinds = ("estimates", "mean"), ("differences", "p_holm"), ("correlations", "rho"), ("ratings", "mu")
    for kind, column in kinds:
        known = [value for one in getattr(said, kind) if (value := getattr(one, column)) is not None]
        assert list(getattr(loaded, kind)[column].dropna()) == known
        assert len(getattr(loaded, kind)) == len(getattr(said, kind))
    assert list(loaded.games["status"]) == ["finished"] * 4
    assert list(loaded.differences[["of_arm", "against_arm"]].iloc[0]) == ["adaptive", "none"]
    assert loaded.experiment == SMALL.model_copy(update={"prices": loaded.experiment.prices})
    chosen = "metric == 'profit' and arm == 'none' and bidder == 'Ann'"
    own = loaded.measurements.query(chosen)["value"].mean()
    assert list(loaded.estimates.query(chosen)["mean"]) == [pytest.approx(own)]


def test_frames_of_nothing_have_their_columns_and_types():
    loaded = Loaded(Results(SMALL, ()))
    full = Loaded(Results(SMALL, (TrialRecord("none", "all", 1, 7, "failed", detail="cut \ud83d short"),)))
    assert list(loaded.games.columns) == list(full.games.columns)
    assert loaded.games["cost"].dtype == full.games["cost"].dtype == "float64"
    assert list(full.games["detail"]) == ["cut \\ud83d short"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_read_back_as_the_frames(folder, tmp_path, form):
    written(folder, "--format", form, "--out", tmp_path / "out", to=tmp_path / "out")
    loaded = load(folder)
    for name in FRAMES:
        frame, path = getattr(loaded, name).assign(simulated=True), tmp_path / "out" / f"{name}.{form}"
        unknown = {column: [""] for column in frame if frame[column].isna().any()}
        if form == "parquet":
            read = pd.read_parquet(path)
        else:
            read = pd.read_csv(path, dtype=dict(frame.dtypes), keep_default_na=False, na_values=unknown)
        assert_frame_equal(read, frame, check_dtype=form == "parquet")


def test_every_exported_table_says_whether_it_is_simulated_and_published_rows_never_are(tmp_path):
    for player, label in (("simulated", True), ("openai:gpt", False)):
        record = ended("Ann", Measurement("profit", 1.0, "Ann"), player=player)
        to_csv(Loaded(Results(SMALL, (record,))), tmp_path)
        for file in tmp_path.glob("*.csv"):
            read = pd.read_csv(file)
            assert "simulated" in read, file
            assert set(read["simulated"]) <= {label}, file
    assert (tmp_path / "table-profit.csv").is_file()


def test_any_text_survives_a_csv_file(tmp_path):
    text = 'comma, "quote"\nline; =1+1, שלום'
    record = TrialRecord("none", "all", 1, 7, "failed", detail=text, players=((text, text),))
    to_csv(Loaded(Results(SMALL, (record,))), tmp_path)
    read = pd.read_csv(tmp_path / "games.csv")
    assert list(read["detail"]) == [text]
    assert json.loads(read["players"][0]) == {text: text}


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.text("=+-@\t\r\n'a1", max_size=4), min_size=1, max_size=5))
def test_no_text_of_a_csv_file_is_a_formula_and_numbers_stay_numbers(tmp_path, texts):
    games = []
    for text in texts:
        values = Measurement("profit", -5.0, text, text), Measurement("profit", None, text, "other", missing=text)
        games.append(ended(text, *values, player=text, detail=text))
    loaded = Loaded(Results(SMALL, tuple(games)))
    to_csv(loaded, tmp_path)
    for name in FRAMES:
        with (tmp_path / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            cells = [cell for row in csv.reader(file) for cell in row if cell.startswith(tuple("=+-@\t\r\n"))]
        assert all(re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", cell) for cell in cells)
    assert "-5.0" in (tmp_path / "measurements.csv").read_text(encoding="utf-8")
    assert list(loaded.measurements["bidder"]) == [text for text in texts for _ in range(2)]


@pytest.fixture(scope="module")
def tables(folder, tmp_path_factory) -> Path:
    """The tables for LaTeX of the small experiment."""
    out = tmp_path_factory.mktemp("tables")
    written(folder, "--format", "latex", "--out", out, to=out)
    return out


def test_tables_for_latex_are_whole_and_escaped(tables):
    written = {path.name: path.read_text() for path in tables.glob("*.tex")}
    assert {"table-profit.tex", "comparisons.tex", "correlations.tex", "ratings.tex", "preview.tex"} <= set(written)
    assert set(re.findall(r"\\input{(.*?)}", written.pop("preview.tex"))) == {name[:-4] for name in written}
    for text in written.values():
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
        once = r"\toprule", r"\midrule", r"\bottomrule", r"\caption{", r"\label{tab:"
        assert [text.count(part) for part in once] == [1] * 5
        [begun], [ended] = re.findall(r"\\begin{(table\*?)}", text), re.findall(r"\\end{(table\*?)}", text)
        assert begun == ended
        assert "Simulated: the built-in model played" in text
        assert not re.search(r"(?<!\\)[_#]", text)


def test_a_table_of_a_metric_is_arms_by_bidders_and_the_best_of_each_column_is_bold(folder, tables):
    text = (tables / "table-profit.tex").read_text()
    heads, *rows = [line.split(" & ") for line in text.splitlines() if line.endswith(r"\\")]
    assert heads[:3] == ["arm", "n", "everyone"]
    assert {head.removesuffix(r" \\") for head in heads[3:]} == {"Ann", "Ben"}
    assert [row[:2] for row in rows] == [["adaptive", "2"], ["none", "2"]]
    means = load(folder).estimates.query("metric == 'profit' and bidder == 'everyone'").set_index("arm")["mean"]
    bold = {row[0] for row in rows if "textbf" in row[2]}
    assert bold == ({means.idxmax()} if means.nunique() > 1 else set())


def has_tex() -> bool:
    """Whether LaTeX is here, with the packages that the tables need."""
    words = ["kpsewhich", "booktabs.sty"]
    return bool(shutil.which(words[0])) and not subprocess.run(words, capture_output=True, check=False).returncode


@pytest.mark.skipif(not has_tex(), reason="no TeX here; on Debian: apt-get install texlive-latex-recommended lmodern")
def test_tables_and_figures_compile_with_the_nastiest_names(tmp_path):
    nasty = r"\input{x} 50 % $1 #2 {}~^_& <b> ' 拍卖 ‖ ½ Łódź"
    games = [replace(ended(nasty, Measurement("profit", 3.0 + 2 * n, nasty)), repeat=n) for n in (1, 2)]
    loaded = Loaded(Results(SMALL.model_copy(update={"title": nasty}), tuple(games)))
    with pytest.warns(UserWarning, match="拍 卖"):
        to_latex(loaded, tmp_path)
    with pytest.warns(UserWarning, match="the fonts here lack 拍 卖"):
        write_figure(loaded, drawings(loaded)["means-profit"], tmp_path / "means.pdf", "pdf", "column")
    preview = (tmp_path / "preview.tex").read_text().replace(r"\end{document}", r"\input{means-caption}\end{document}")
    (tmp_path / "preview.tex").write_text(preview)
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "preview.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")
    assert (tmp_path / "preview.pdf").stat().st_size > 10_000


def of_cells(heads, *rows, says="") -> str:
    """Write a table for LaTeX; each cell is a text, or a text with one below it."""
    cells = [[Cell(one) if isinstance(one, str) else Cell(*one) for one in row] for row in (heads, *rows)]
    return latex(Table(tuple(map(Column, cells[0])), tuple(map(tuple, cells[1:]))), says, "one")


@pytest.mark.parametrize(("heads", "row", "written"), [
    (["a_b & c"], [(r"\input{x} 50 % $1 #2 {}~^", f"{MINUS}5\n6")], [
        r"a\_b \& c",
        r"\textbackslash{}input\{x\} 50 \% \$1 \#2 \{\}\textasciitilde{}\textasciicircum{} ($-$5 6) \\",
        r"\caption{50~\%}",
    ]),
    ([("this", "model"), "p"], [("1.000", "all 2 values are equal"), "< 0.001"], [
        r"this (model) & p \\", r"1.000 (all 2 values are equal) & \textless{} 0.001 \\",
    ]),
    (["n", "p"], [("5 \ufffd", "[1, 9]"), NOTHING], [r"5 ? {\scriptsize [1, 9]} & -- \\"]),
    ([("p (Holm)", "2 tests")], ["0.1"], [r"p (Holm, 2 tests) \\"]),
], ids=["special characters", "what a font lacks", "what a font lacks in numbers", "below brackets"])  # fmt: skip
def test_cells_are_escaped_for_latex_and_written_with_what_its_fonts_have(heads, row, written):
    text = of_cells(heads, row, says="50 %")
    assert [words for words in written if words not in text] == []


def test_a_table_that_is_wider_than_a_column_goes_over_both_and_a_long_one_is_parted():
    texts = [of_cells(["profit"] * wide, ["12,345 [1,000, 23,456]"] * wide) for wide in (1, 8)]
    assert [set(re.findall(r"\\(?:begin|end){(table\*?)}", text)) for text in texts] == [{"table"}, {"table*"}]
    text = of_cells(["n"], *([str(place)] for place in range(LONGEST + 1)), says="many")
    assert re.findall(r"\\caption{(.*?)}\n", text) == ["many (1 of 2)", "many (2 of 2)"]
    assert re.findall(r"\\label{(.*?)}", text) == ["tab:one", "tab:one-2"]


def test_the_report_is_written_into_the_folder(folder):
    assert written(folder, to=folder / "report.html").stderr == ""
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "A small experiment" in page
    assert json.loads((folder / "manifest.json").read_text())["config_digest"] in page


def test_a_half_finished_experiment_of_another_version_has_a_report_that_says_so(folder, tmp_path):
    half, page = Path(shutil.copytree(folder, tmp_path / "half")), tmp_path / "page.html"
    shutil.rmtree(half / "games/none/all/0002")
    game = half / "games/adaptive/all/0002"
    (game / "record.json").unlink()
    cut(game / "events.jsonl", -3)
    manifest = json.loads((half / "manifest.json").read_text())
    (half / "manifest.json").write_text(json.dumps(manifest | {"harbor": "0.0.9"}))
    said = written(half, "--out", page, to=page).stderr
    assert f"harbor: it was begun with harbor 0.0.9; harbor {__version__} measures its games anew\n" in said
    assert "2 of 4 games are not finished; resume with: harbor experiment resume" in said
    assert "Of 4 games 2 are finished, 0 failed and 2 are missing" in page.read_text()


@pytest.mark.parametrize(("words", "complaint"), [
    ("{changed}/changed", ".* was changed since the experiment began.*"),
    ("{folder}/games/none/all/0001", "'.*' is a single run, not an experiment; see it with: harbor view .*"),
    ("{changed}", "'.*' contains no experiment .*"),
    ("{folder} --format pdf", ".*'pdf'.*"),
    ("{folder} --out {changed}/no/such.html", r"'.*' can't be written \(No such file or directory\); name .* --out"),
    ("{folder} --format parquet --out {changed}/out", r"parquet needs pyarrow; pip install '.*parquet.*', or take csv"),
], ids=["changed design", "single run", "no experiment", "unknown format", "no such place", "no pyarrow"])  # fmt: skip
def test_what_can_t_be_reported_is_refused_in_one_line(words, complaint, folder, tmp_path, monkeypatch):
    design = Path(shutil.copytree(folder, tmp_path / "changed")) / "experiment.json"
    design.write_text(design.read_text().replace("A small experiment", "Another"))
    if "parquet" in words:
        monkeypatch.setitem(sys.modules, "pyarrow", None)  # what Python does where it is not installed
    done = harbor("report", *words.format(folder=folder, changed=tmp_path).split())
    assert re.fullmatch(complaint, mistake(done))
