"""Rating sheets: drawn, blinded, filled, merged and unblinded, from the command line."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from scipy import stats

from harbor import Auction, Bidder, Item
from harbor._core.basics.errors import RatingError, RunFolderError
from harbor.evaluation._rating.rating_results import agreements, merge, scores
from harbor.evaluation._rating.sheets import draw, read_key, rubric, write_sheets
from harbor.evaluation._rating.transcript import Rateable, rateables
from support.commands import harbor, mistake
from support.folders import cut

CRITERIA = [criterion.id for criterion in rubric().criteria]


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """Four games of two arms, as a runner leaves them, and one that was never finished."""
    root = tmp_path_factory.mktemp("experiment")
    lot = Item(name="Lot", start=1000, true_value=2000)
    for (arm, persona), repeat in product((("plain", None), ("acted", "downsizing")), (1, 2)):
        ann, ben = Bidder("Ann", persona=persona, budget=3000), Bidder("Ben", budget=2000)
        auction = Auction(seed=repeat, items=[lot], bidders=[ann, ben, Bidder("Rob", rule="minimum-raise")])
        auction.run(out=root / "games" / arm / "all" / f"{repeat:04}")
    whole = root / "games" / "plain" / "all" / "0002"
    cut(shutil.copytree(whole, whole.with_name("0003")) / "events.jsonl", -3)
    return root


@pytest.fixture
def ratings(experiment, tmp_path):
    write_sheets(tmp_path / "ratings", rateables([experiment]), raters=2)
    return tmp_path / "ratings"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, scores: str | dict[str, str], *but: str) -> None:
    """Give each record its score, or all the same, on all criteria but these."""
    rows = rows_of(path)
    for row in rows:
        score = scores if isinstance(scores, str) else scores[row["record"]]
        row |= {name: score for name in CRITERIA if not row[name] and name not in but}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def sheet(ratings: Path, rater: int) -> Path:
    return ratings / "sheets" / f"rater-{rater}" / "sheet.csv"


def change(path: Path, line: int, old: str, new: str) -> None:
    lines = path.read_text().splitlines()
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_text("\n".join(lines) + "\n")


# ---------------------------------------------------------------- drawing


def test_what_can_be_rated_are_bidders_with_reasons_in_finished_games_each_once(experiment, tmp_path):
    games = experiment / "games" / "plain" / "all"
    found = rateables([experiment])
    assert len(rateables([experiment, games / "0001"])) == len(found)
    expected = product((f"{arm}/all/000{n}" for arm in ("plain", "acted") for n in (1, 2)), ("Ann", "Ben"))
    assert sorted((one.game, one.bidder) for one in found) == sorted(expected)
    assert {(one.arm, one.condition) for one in found} == {("plain", "all"), ("acted", "all")}
    with pytest.raises(RunFolderError, match="contains no run"):
        rateables([tmp_path])
    with pytest.raises(RatingError, match="nothing to rate"):
        rateables([games / "0003"])


def many(cells: int, each: int) -> list[Rateable]:
    cases = product(range(cells), range(each))
    return [Rateable(Path(f"{c}-{n}"), "Ann", "x", f"arm-{c}", "all", f"{c}-{n}") for c, n in cases]


def test_a_draw_takes_as_many_of_each_arm_and_shares_them_out_evenly_as_its_seed_says():
    drawn = draw(many(cells=6, each=10), count=30, raters=10, each=5, seed=1)
    assert len(drawn) == 30
    assert set(Counter(one.arm for one, _ in drawn.values()).values()) == {5}
    assert all(len(set(raters)) == 5 for _, raters in drawn.values())
    assert set(Counter(rater for _, raters in drawn.values() for rater in raters).values()) == {15}
    assert drawn == draw(many(cells=6, each=10), count=30, raters=10, each=5, seed=1)
    assert drawn != draw(many(cells=6, each=10), count=30, raters=10, each=5, seed=2)
    for count, each, complaint in (99, None, "99 records are wanted, but there are 4"), (2, 3, "3 raters per record"):
        with pytest.raises(RatingError, match=complaint):
            draw(many(1, 4), count, raters=2, each=each, seed=0)


def test_what_a_rater_gets_tells_nothing_of_run_bidder_player_or_arm(ratings):
    folder = ratings / "sheets" / "rater-1"
    given = "".join(f"{path.relative_to(folder)}\n{path.read_text()}" for path in folder.rglob("*") if path.is_file())
    secrets = ("Ann", "Ben", "Rob", "simulated", "acted", "/all/", "downsizing", "0001", str(ratings.parent))
    assert [secret for secret in secrets if secret in given] == []
    assert "Player A" in given
    assert not list(folder.rglob("key.json"))


def test_each_rater_reads_the_records_in_an_order_of_its_own_and_identity_is_asked_of_players_with_one(ratings):
    records, (one, other) = read_key(ratings).records, (rows_of(sheet(ratings, n)) for n in (1, 2))
    assert sorted(row["record"] for row in one) == sorted(row["record"] for row in other) == sorted(records)
    assert [row["record"] for row in one] != [row["record"] for row in other]
    assert {row["record"]: row["identity_alignment"] for row in one} == {
        id_: "" if record.persona else "n/a" for id_, record in records.items()
    }
    assert sum(record.persona for record in records.values()) == 2


# ---------------------------------------------------------------- merging


def test_sheets_that_are_filled_come_back_unblinded(ratings):
    key = read_key(ratings)
    for rater in (1, 2):
        fill(sheet(ratings, rater), {id_: "5" if one.bidder == "Ann" else "2" for id_, one in key.records.items()})
    merged = merge(ratings)
    assert not merged.missing
    assert merged.simulated
    assert len(merged.ratings) == 2 * (8 * 5 + 2)
    assert all(rating.score == (5 if rating.of.bidder == "Ann" else 2) for rating in merged.ratings)
    assert all(one.agreement.alpha == 1 for one in agreements(merged) if one.criterion != "identity_alignment")
    [identity] = [one for one in scores(merged) if (one.criterion, one.arm) == ("identity_alignment", "acted")]
    assert (identity.scores, identity.records, identity.mean, identity.sd) == (4, 2, 5, 0)
    assert (identity.low, identity.high) == (pytest.approx(5 - 4 * (1 - 0.05**0.5)), 5)  # two games, no score below 5


def test_scores_are_described_in_all_and_by_arm_with_the_game_as_the_unit(ratings):
    records = read_key(ratings).records
    values = {id_: 1 + place % 5 for place, id_ in enumerate(records)}
    fill(sheet(ratings, 1), {id_: str(score) for id_, score in values.items()})
    found = [one for one in scores(merge(ratings, [sheet(ratings, 1)])) if one.criterion == "adaptability"]
    told = [(one.source, one.arm, one.scores, one.games) for one in found]
    assert told == [("people", "", 8, 4), ("people", "acted", 4, 2), ("people", "plain", 4, 2)]
    assert found[0].mean == pytest.approx(sum(values.values()) / 8)
    plain = found[2]
    games = {record.game for record in records.values() if record.arm == "plain"}
    sums = [sum(values[id_] - plain.mean for id_ in records if records[id_].game == game) for game in games]
    error = (sum(one**2 for one in sums) * 2 / 1 * 3 / 3) ** 0.5 / 4  # sandwich of sums by game, corrected for few
    reach = stats.t.ppf(0.975, 1) * error
    assert (plain.low, plain.high) == (max(1, plain.mean - reach), min(5, plain.mean + reach))


def test_what_is_not_filled_is_missing_and_not_nought(ratings):
    fill(sheet(ratings, 1), "4", "adaptability")
    merged = merge(ratings, [sheet(ratings, 1)])
    assert {gap.criteria for gap in merged.missing} == {("adaptability",)}
    assert len(merged.missing) == 8
    assert not [one for one in scores(merged) if one.criterion == "adaptability"]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_sheet_may_come_back_as_a_spreadsheet_saves_it(ratings, delimiter):
    path = sheet(ratings, 1)
    fill(path, "4.0")
    rows = list(csv.reader(path.read_text().splitlines()))
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\r\n").writerows([*rows, [""] * len(rows[0])])
    assert {rating.score for rating in merge(ratings, [path]).ratings} == {4}


NO_SCORE = "information_utilisation {!r} is no score; give a whole number from 1 to 5"


@pytest.mark.parametrize(("old", "new", "complaint"), [
    ("RECORD", "RECORDx", "unknown record 'RECORDx'; did you mean 'RECORD'"),
    ("rater-1", "rater-9", "unknown rater 'rater-9'"),
    ("n/a", "3", "identity_alignment '3', but that player had no persona; leave it n/a"),
    *((",3,", f",{entry},", NO_SCORE.format(entry)) for entry in ("6", "0", "-1", "3.5", "good", "=1+1", "1e0", "nan")),
])  # fmt: skip
def test_an_entry_that_is_no_score_and_an_unknown_record_or_rater_are_refused_by_file_and_line(
    ratings, old, new, complaint
):
    path = sheet(ratings, 1)
    fill(path, "3")
    record = next(row["record"] for row in rows_of(path) if row["identity_alignment"] == "n/a")
    line = 1 + next(n for n, row in enumerate(path.read_text().splitlines()) if record in row)
    change(path, line, *(text.replace("RECORD", record) for text in (old, new)))
    told = f"sheet {str(path)!r} line {line}: {complaint.replace('RECORD', record)}"
    with pytest.raises(RatingError, match=re.escape(told)):
        merge(ratings)


def test_a_sheet_that_comes_twice_or_has_a_row_of_another_rater_is_refused(experiment, ratings, tmp_path):
    fill(sheet(ratings, 1), "3")
    copy = Path(shutil.copy(sheet(ratings, 1), tmp_path / "copy.csv"))
    with pytest.raises(RatingError, match=r"copy.csv' line 2: rater-1 has rated \w+ already, at sheet .* line 2; drop"):
        merge(ratings, [sheet(ratings, 1), copy])
    other = tmp_path / "other"
    write_sheets(other, rateables([experiment]), raters=2, each=1)
    theirs = next(id_ for id_, record in read_key(other).records.items() if record.raters == ("rater-2",))
    with sheet(other, 1).open("a") as file:
        file.write(f"rater-1,{theirs},3,3,3,3,3,3,\n")
    with pytest.raises(RatingError, match=f"record '{theirs}' is not for rater-1, but for rater-2"):
        merge(other)


def test_a_folder_without_key_sheets_or_their_columns_is_refused(ratings, tmp_path):
    def refused(complaint, *of):
        with pytest.raises(RatingError, match=complaint):
            merge(*of or (ratings,))

    for text, complaint in ("", "no column 'rater'"), ("rater,record\n", "no column 'information_utilisation'"):
        sheet(ratings, 1).write_text(text)
        refused(complaint)
    shutil.rmtree(ratings / "sheets")
    refused("holds no sheet.csv")
    refused("contains no key.json", tmp_path)
    refused("can't be read", ratings, [tmp_path / "nowhere.csv"])


# ---------------------------------------------------------------- the commands


def test_sheets_judge_and_merge_work_together_from_the_command_line(experiment, tmp_path):
    folder = tmp_path / "ratings"
    drawn = harbor("rate", "sheets", experiment, "--out", folder, "--records", 4, "--raters", 2)
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert "4 records for 2 raters" in drawn.stdout
    judged = json.loads(harbor("rate", "judge", folder, "--model", "simulated", "--json").stdout)
    assert (judged["records"], judged["failed"], judged["cost_dollars"]) == (4, {}, 0)
    shutil.rmtree(folder / "judges")
    assert "its scores mean nothing" in harbor("rate", "judge", folder, "--model", "simulated").stdout
    fill(sheet(folder, 1), "3")
    merged = harbor("rate", "merge", folder, "--json")
    found = json.loads(merged.stdout)
    assert merged.stderr == "harbor: missing: rater-2 has rated nothing\n"
    assert found["simulated"]
    assert {one["source"] for one in found["criteria"]} == {"people", "judge:simulated"}
    assert {one["source"] for one in found["agreement"]} == {"people", "judge:simulated", "all"}
    assert all(one["alpha"] is None and one["undefined"] for one in found["agreement"] if one["source"] == "people")
    assert found["published"]["groups"][0]["mean"]["long_term_planning"] == 3.88


def test_what_is_merged_is_told_beside_the_published_ratings(ratings):
    fill(sheet(ratings, 1), "3")
    done = harbor("rate", "merge", ratings)
    assert done.returncode == 0
    assert [words for words in ("Simulated results", "gpt-4-32k") if words not in done.stdout] == []
    assert done.stdout.count("no record was rated by two raters") == 1
    assert re.search(r"\d+ scores, \d+ not filled in yet", done.stdout)


def test_a_judge_may_draw_its_own_records_and_raters_may_share_the_work(experiment, tmp_path):
    words = ["judge", experiment, "--model", "simulated", "--out", tmp_path / "judged", "--records", 2]
    done = harbor("rate", *words)
    assert done.returncode == 0, done.stderr
    assert "judge:simulated rated 2 records in 2 calls" in done.stdout
    assert not (tmp_path / "judged" / "sheets").exists(), "no people rate there"
    words = ("--out", tmp_path / "shared", "--records", 4, "--raters", 4, "--each", 2)
    assert harbor("rate", "sheets", experiment, *words).returncode == 0
    assert [len(list(one.glob("transcripts/*"))) for one in (tmp_path / "shared" / "sheets").iterdir()] == [2] * 4


@pytest.mark.parametrize(("words", "complaint"), [
    (["sheets", "nowhere", "--out", "x"], "'nowhere' does not exist"),
    (["judge", "nowhere", "--model", "simulated"], "name a new one with --out"),
    (["judge", "RATINGS", "--model", "nobody"], "unknown model 'nobody'"),
    (["judge", "RATINGS", "--model", "simulated", "--records", "2"], "drop --out and --records"),
    (["sheets", "EXPERIMENT", "--out", "RATINGS"], "exists; name a new one"),
    (["merge", "EXPERIMENT"], "contains no key.json"),
])  # fmt: skip
def test_a_mistake_is_one_line(words, complaint, ratings, experiment):
    places = {"RATINGS": ratings, "EXPERIMENT": experiment}
    assert complaint in mistake(harbor("rate", *(places.get(word, word) for word in words)))
