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
from harbor.evaluation import load
from harbor.evaluation._analysis.findings import analyse
from harbor.evaluation._experiments.design import Comparison, Experiment, Side, Variation
from harbor.evaluation._experiments.trial_records import Results, TrialRecord
from harbor.evaluation._metrics.measurement import Measurement
from harbor.evaluation._report.paper.exports import FRAMES, LONGEST, latex, to_csv, to_latex
from harbor.evaluation._report.paper.figure_files import drawings, write_figure
from harbor.evaluation._report.tabular.formatting import MINUS, NOTHING
from harbor.evaluation._report.tabular.loading import Loaded
from harbor.evaluation._report.tabular.page_parts import Cell, Column, Table
from harbor.evaluation._running.runner import run_experiment
from support.commands import Done, harbor
from support.plugins import install, installed

SMALL = Experiment(
    name="small",
    title="A small experiment",
    question="Does a plan pay?",
    source="Nobody 2024",
    repeats=2,
    auction={
        "items": [{"name": name, "start": 1000, "true_value": 2000} for name in ("Lot A", "Lot B")],
        "bidders": [{"name": name, "budget": 4000, "model": "@1"} for name in ("Ann", "Ben")],
    },
    arms=(Variation(name="adaptive"), Variation(name="none", auction={"bidders": {"*": {"planning": "none"}}})),
    metrics=("profit", "remaining_budget", "bids", "priority_initial"),
    correlations=(("priority_initial", "bids"),),
    trueskill=True,
    comparisons=(Comparison(metric="profit", of=Side(arm="adaptive"), against=Side(arm="none")),),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A small experiment, held for real."""
    path = tmp_path_factory.mktemp("experiments") / "small"
    asyncio.run(run_experiment(SMALL, path))
    return path


@pytest.fixture(scope="module")
def half(folder, tmp_path_factory) -> Path:
    """The same, with one game missing and one broken off in the middle."""
    path = tmp_path_factory.mktemp("half") / "small"
    shutil.copytree(folder, path)
    shutil.rmtree(path / "games/none/all/0002")
    cut = path / "games/adaptive/all/0002"
    (cut / "record.json").unlink()
    events = cut / "events.jsonl"
    events.write_bytes(b"".join(events.read_bytes().splitlines(keepends=True)[:-3]))
    return path


def report(*words: object) -> Done:
    return harbor("report", *words)


def test_the_frames_hold_what_the_analysis_says(folder):
    loaded = load(folder)
    said = analyse(loaded.results)
    assert list(loaded.estimates["mean"].astype("object").where(loaded.estimates["mean"].notna(), None)) == [
        one.mean for one in said.estimates
    ]
    assert list(loaded.differences["p_holm"].dropna()) == [
        one.p_holm for one in said.differences if one.p_holm is not None
    ]
    assert list(loaded.correlations["rho"].dropna()) == [one.rho for one in said.correlations if one.rho is not None]
    assert list(loaded.ratings["mu"]) == [one.mu for one in said.ratings]
    assert list(loaded.games["status"]) == ["finished"] * 4
    assert list(loaded.differences[["of_arm", "against_arm"]].iloc[0]) == ["adaptive", "none"]
    assert loaded.experiment == SMALL.model_copy(update={"prices": loaded.experiment.prices})


def test_a_mean_of_the_measurements_is_the_estimate(folder):
    loaded = load(folder)
    own = loaded.measurements.query("metric == 'profit' and arm == 'none' and bidder == 'Ann'")["value"].mean()
    told = loaded.estimates.query("metric == 'profit' and arm == 'none' and bidder == 'Ann'")["mean"]
    assert list(told) == [pytest.approx(own)]


def test_frames_of_nothing_have_their_columns_and_types():
    loaded = Loaded(Results(SMALL, ()))
    full = Loaded(Results(SMALL, (TrialRecord("none", "all", 1, 7, "failed", detail="cut \ud83d short"),)))
    assert list(loaded.games.columns) == list(full.games.columns)
    assert loaded.games["cost"].dtype == full.games["cost"].dtype == "float64"
    assert list(full.games["detail"]) == ["cut \\ud83d short"]


def test_loading_is_lazy():
    script = "import harbor.evaluation, sys; print(sorted({'pandas', 'matplotlib', 'jinja2'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_files_read_back_as_the_frames(folder, tmp_path, form):
    done = report(folder, "--format", form, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path / "out")), done.stderr
    loaded = load(folder)
    for name in FRAMES:
        frame = getattr(loaded, name).assign(simulated=True)
        path = tmp_path / "out" / f"{name}.{form}"
        if form == "parquet":
            read = pd.read_parquet(path)
        else:
            types = {column: frame[column].dtype for column in frame}
            read = pd.read_csv(
                path,
                dtype=types,
                keep_default_na=False,
                na_values={column: [""] for column in frame if frame[column].isna().any()},
            )
        assert_frame_equal(read, frame, check_dtype=form == "parquet")


def test_every_exported_table_says_whether_it_is_simulated_and_published_rows_never_are(tmp_path):
    played = (("Ann", "simulated"),)
    record = TrialRecord(
        "none", "all", 1, 7, "finished", players=played, measurements=(Measurement("profit", 1.0, "Ann"),)
    )
    for players, label in ((played, True), ((("Ann", "openai:gpt"),), False)):
        to_csv(Loaded(Results(SMALL, (replace(record, players=players),))), tmp_path)
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
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.text("=+-@\t\r\n'a1", max_size=4))
def test_no_text_of_a_csv_file_is_a_formula_and_numbers_stay_numbers(tmp_path, text):
    low = Measurement("profit", -5.0, text, text)
    unknown = Measurement("profit", None, text, "other", missing=text)
    record = TrialRecord("none", "all", 1, 7, "finished", text, ((text, text),), measurements=(low, unknown))
    loaded = Loaded(Results(SMALL, (record,)))
    to_csv(loaded, tmp_path)
    for name in FRAMES:
        with (tmp_path / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if cell.startswith(tuple("=+-@\t\r\n")) and not number(cell)]
    assert "-5.0" in (tmp_path / "measurements.csv").read_text(encoding="utf-8")
    assert list(loaded.measurements["bidder"]) == [text, text]


def number(cell: str) -> bool:
    return re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", cell) is not None


def test_without_pyarrow_parquet_is_refused_in_one_line(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # what Python does where it is not installed
    done = report(folder, "--format", "parquet", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr == "harbor: error: parquet needs pyarrow; pip install 'harbor-auctions[parquet]', or take csv\n"


@pytest.fixture(scope="module")
def tables(folder, tmp_path_factory) -> Path:
    """The tables for LaTeX of the small experiment."""
    out = tmp_path_factory.mktemp("tables")
    done = report(folder, "--format", "latex", "--out", out)
    assert (done.returncode, done.stdout.strip()) == (0, str(out)), done.stderr
    return out


def test_tables_for_latex_are_whole_and_escaped(tables):
    written = {path.name: path.read_text() for path in tables.glob("*.tex")}
    assert {"table-profit.tex", "comparisons.tex", "correlations.tex", "ratings.tex", "preview.tex"} <= set(written)
    assert set(re.findall(r"\\input{(.*?)}", written.pop("preview.tex"))) == {name[:-4] for name in written}
    for text in written.values():
        rows = [line for line in text.splitlines() if line.endswith(r"\\")]
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1
        assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
        assert [text.count(part) for part in (r"\caption{", r"\label{tab:")] == [1, 1]
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
    return (
        shutil.which("kpsewhich") is not None
        and not subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False).returncode
    )


@pytest.mark.skipif(not has_tex(), reason="no TeX here; on Debian: apt-get install texlive-latex-recommended lmodern")
def test_tables_and_figures_compile_with_the_nastiest_names(tmp_path):
    nasty = r"\input{x} 50 % $1 #2 {}~^_& <b> ' 拍卖 ‖ ½ Łódź"
    record = TrialRecord("none", "all", 1, 7, "finished", players=((nasty, "simulated"),))
    values = tuple(Measurement("profit", float(value), nasty) for value in (5, 7))
    games = [replace(record, repeat=place, measurements=(one,)) for place, one in enumerate(values, 1)]
    loaded = Loaded(Results(SMALL.model_copy(update={"title": nasty}), tuple(games)))
    with pytest.warns(UserWarning, match="拍 卖"):
        to_latex(loaded, tmp_path)
    with pytest.warns(UserWarning, match="the fonts here lack 拍 卖"):
        write_figure(loaded, drawings(loaded)["means-profit"], tmp_path / "means.pdf", "pdf", "column")
    preview = (tmp_path / "preview.tex").read_text().replace(r"\end{document}", r"\input{means-caption}\end{document}")
    (tmp_path / "preview.tex").write_text(preview)
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "preview.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")
    assert (tmp_path / "preview.pdf").stat().st_size > 10_000


def test_special_characters_are_escaped_for_latex():
    table = Table((Column(Cell("a_b & c")),), ((Cell(r"\input{x} 50 % $1 #2 {}~^", f"{MINUS}5\n6"),),))
    text = latex(table, "50 %", "one")
    assert r"a\_b \& c" in text
    said = r"\textbackslash{}input\{x\} 50 \% \$1 \#2 \{\}\textasciitilde{}\textasciicircum{} ($-$5 6) \\"
    assert said in text
    assert r"\caption{50~\%}" in text


def test_what_a_font_of_latex_lacks_is_written_with_what_it_has():
    columns = (Column(Cell("this", "model")), Column(Cell("p")))
    rows = ((Cell("1.000", "all 2 values are equal"), Cell("< 0.001")), (Cell("5 \ufffd", "[1, 9]"), Cell(NOTHING)))
    text = latex(Table(columns, rows), "", "one")
    assert r"this (model) & p \\" in text
    assert r"1.000 (all 2 values are equal) & \textless{} 0.001 \\" in text
    assert r"5 ? {\scriptsize [1, 9]} & -- \\" in text


def test_a_table_that_is_wider_than_a_column_goes_over_both():
    kinds = {}
    for wide in (1, 8):
        rows = ((Cell("12,345 [1,000, 23,456]"),) * wide,)
        text = latex(Table((Column(Cell("profit")),) * wide, rows), "", "one")
        kinds[wide] = re.findall(r"\\(?:begin|end){(table\*?)}", text)
    assert kinds == {1: ["table", "table"], 8: ["table*", "table*"]}


def test_what_stands_below_a_head_that_ends_in_brackets_goes_into_them():
    text = latex(Table((Column(Cell("p (Holm)", "2 tests")),), ((Cell("0.1"),),)), "", "one")
    assert r"p (Holm, 2 tests) \\" in text


def test_a_long_table_is_parted_so_that_a_page_holds_each_part():
    rows = tuple((Cell(str(place)),) for place in range(LONGEST + 1))
    text = latex(Table((Column(Cell("n")),), rows), "many", "one")
    assert re.findall(r"\\caption{(.*?)}\n", text) == ["many (1 of 2)", "many (2 of 2)"]
    assert re.findall(r"\\label{(.*?)}", text) == ["tab:one", "tab:one-2"]


def test_the_report_is_written_into_the_folder(folder):
    done = report(folder)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, str(folder / "report.html"), "")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "A small experiment" in page
    assert json.loads((folder / "manifest.json").read_text())["config_digest"] in page


def test_a_half_finished_experiment_has_a_report_that_says_so(half, tmp_path):
    done = report(half, "--out", tmp_path / "page.html")
    assert done.returncode == 0
    assert "2 of 4 games are not finished; resume with: harbor experiment resume" in done.stderr
    assert "Of 4 games 2 are finished, 0 failed and 2 are missing" in (tmp_path / "page.html").read_text()


BY_PLACE = """
from harbor.evaluation import figure

@figure("Profits by place", "All of them.", "profit", by_place=True)
def by_place(axes, values):
    return "never drawn"
"""


def test_a_figure_that_fails_is_one_warning_and_the_report_is_written(folder, tmp_path):
    place = install(
        tmp_path / "site", "placed", {"placed.py": BY_PLACE}, {"harbor.figures": {"by-place": "placed:by_place"}}
    )
    with installed(place):
        done = report(folder, "--out", tmp_path / "page.html")
    assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path / "page.html"))
    why = "figure 'by-place' can't be drawn: it is drawn by place, and values of 'profit' have none"
    assert done.stderr == f"harbor: warning: {why}; choose a metric with places\n"
    assert "Remaining budget over items" in (tmp_path / "page.html").read_text()


def test_a_report_on_what_another_version_began_says_so(folder, tmp_path):
    path = Path(shutil.copytree(folder, tmp_path / "copy"))
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(manifest | {"harbor": "0.0.9"}))
    done = report(path, "--out", path / "report.html")
    assert (done.returncode, done.stdout.strip()) == (0, str(path / "report.html"))
    assert done.stderr == f"harbor: it was begun with harbor 0.0.9; harbor {__version__} measures its games anew\n"


def test_a_changed_design_is_refused_in_one_line(folder, tmp_path):
    path = tmp_path / "changed"
    shutil.copytree(folder, path)
    design = path / "experiment.json"
    design.write_text(design.read_text().replace("A small experiment", "Another"))
    done = report(path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "was changed since the experiment began" in done.stderr


def test_what_is_no_experiment_is_refused_in_one_line(folder, tmp_path):
    single = report(folder / "games/none/all/0001")
    assert single.returncode == 2
    assert re.fullmatch(
        r"harbor: error: '.*' is a single run, not an experiment; see it with: harbor view .*\n", single.stderr
    )
    nothing = report(tmp_path)
    assert nothing.returncode == 2
    assert re.fullmatch(r"harbor: error: '.*' contains no experiment .*\n", nothing.stderr)


def test_a_place_that_can_t_be_written_is_refused_in_one_line(folder, tmp_path):
    done = report(folder, "--out", tmp_path / "no" / "such.html")
    assert done.returncode == 2
    assert re.fullmatch(
        r"harbor: error: '.*' can't be written \(No such file or directory\); name another with --out\n", done.stderr
    )


def test_an_unknown_format_is_refused_in_one_line(folder):
    done = report(folder, "--format", "pdf")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "'pdf'" in done.stderr


def test_records_in_another_order_say_the_same(folder):
    loaded = load(folder)
    turned = Loaded(replace(loaded.results, records=tuple(reversed(loaded.results.records))))
    assert_frame_equal(turned.estimates, loaded.estimates)
