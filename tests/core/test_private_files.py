"""What only its owner can read is so from the moment it is made, whatever the umask, and never through a link."""

from __future__ import annotations

import os
import stat

import pytest

from harbor._core.files.safe_files import make_private, open_private, write_whole
from support.commands import harbor
from support.folders import TINY


@pytest.fixture(params=[0o000, 0o002, 0o077], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("umask")
def test_what_is_made_is_private_whatever_the_umask(tmp_path):
    make_private(tmp_path / "run")
    with open_private(tmp_path / "run" / "calls.jsonl", "ab") as file:
        assert mode(tmp_path / "run" / "calls.jsonl") == 0o600  # while nothing is in it yet
        file.write(b"a")
    write_whole(tmp_path / "run" / "record.json", b"{}")
    assert (mode(tmp_path / "run"), mode(tmp_path / "run" / "record.json")) == (0o700, 0o600)


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("open_to", [0o700, 0o755])
def test_a_missing_parent_is_no_more_open_than_the_folder_that_it_is_made_in(tmp_path, open_to):
    (tmp_path / "place").mkdir()
    (tmp_path / "place").chmod(open_to)
    make_private(tmp_path / "place" / "runs" / "one")
    assert mode(tmp_path / "place" / "runs") & ~open_to == 0
    assert mode(tmp_path / "place") == open_to  # what is there stays as it is


def test_nothing_is_written_through_a_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    for name in ("calls.jsonl", "record.json"):
        (tmp_path / name).symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        open_private(tmp_path / "calls.jsonl", "ab")
    write_whole(tmp_path / "record.json", b"{}")
    assert victim.read_bytes() == b"precious"
    assert (tmp_path / "record.json").read_bytes() == b"{}"


SERIES = """
items = { count = 1 }
series = { auctions = 2 }
bidders = [{ name = "Ann", memory = "full", learning = true }, { name = "Ben", rule = "random" }]
"""


@pytest.mark.parametrize("command", [["auction", "series.toml"], ["experiment", "run", TINY]], ids=["series", "games"])
def test_everything_that_harbor_writes_in_a_folder_of_its_own_is_private(tmp_path, command):
    (tmp_path / "series.toml").write_text(SERIES)
    assert harbor(*command, "--out", "run", cwd=tmp_path).returncode == 0
    indexes = {path.parent for path in tmp_path.rglob("header.bin")}  # Chroma's vectors, with modes of its own
    assert all(mode(index.parent) == 0o700 for index in indexes)
    below = [path for path in (tmp_path / "run").rglob("*") if not indexes & {path, path.parent}]
    there = [tmp_path / "run", *below]
    assert {str(path.relative_to(tmp_path)): oct(mode(path)) for path in there if mode(path) & 0o077} == {}
    assert len(there) > 10
