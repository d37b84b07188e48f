"""The data that the crash lab removes from a folder when it cuts the power."""

from __future__ import annotations

import json
import os
from random import Random

import pytest

from crash.power import Disk

SEEDS = range(40)


@pytest.fixture
def disk(tmp_path):
    """A folder whose file `old` is on disk."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "old").write_bytes(b"old")
    return Disk(tmp_path / "disk", tmp_path / "journal", tmp_path / "attic")


def note(tmp_path, **what):
    with (tmp_path / "journal").open("a") as journal:
        journal.write(json.dumps(what) + "\n")


def sync_folder(tmp_path):
    folder = tmp_path / "disk"
    note(tmp_path, folder=folder.stat().st_ino, names={path.name: path.stat().st_ino for path in folder.iterdir()})


def sync_file(path):
    note(path.parents[1], file=path.stat().st_ino, size=path.stat().st_size)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_synced_survives_and_what_was_not_is_gone_cut_or_zeroed(disk, tmp_path, seed):
    new = tmp_path / "disk" / "new"
    new.write_bytes(b"synced")
    sync_file(new)
    sync_folder(tmp_path)
    new.write_bytes(b"syncedlater")
    disk.cut(Random(seed))
    found = new.read_bytes()
    assert found.startswith(b"synced")
    assert found != b"syncedlater"
    assert b"syncedlater".startswith(found.rstrip(b"\0"))
    assert (tmp_path / "disk" / "old").read_bytes() == b"old"


def test_a_name_that_its_folder_was_not_synced_with_may_be_gone_whatever_was_synced_of_the_file(tmp_path):
    there = []
    for seed in SEEDS:
        place = tmp_path / str(seed)
        (place / "disk").mkdir(parents=True)
        disk = Disk(place / "disk", place / "journal", place / "attic")
        (place / "disk" / "new").write_bytes(b"synced")
        sync_file(place / "disk" / "new")
        disk.cut(Random(seed))
        there.append((place / "disk" / "new").exists())
    assert set(there) == {True, False}


def test_a_file_that_was_put_in_the_place_of_another_may_be_the_other_again(tmp_path):
    found = set()
    for seed in SEEDS:
        place = tmp_path / str(seed)
        (place / "disk").mkdir(parents=True)
        (place / "disk" / "whole").write_bytes(b"before")
        disk = Disk(place / "disk", place / "journal", place / "attic")
        (place / "disk" / "draft").write_bytes(b"after")
        sync_file(place / "disk" / "draft")
        os.link(place / "disk" / "whole", place / "attic" / str((place / "disk" / "whole").stat().st_ino))
        (place / "disk" / "draft").replace(place / "disk" / "whole")
        disk.cut(Random(seed))
        found.add((place / "disk" / "whole").read_bytes())
    assert found == {b"before", b"after"}


def test_all_that_a_cut_has_left_is_there_after_the_next_one(disk, tmp_path):
    (tmp_path / "disk" / "new").write_bytes(b"never synced")
    disk.cut(Random(1))
    left = {path.name: path.read_bytes() for path in (tmp_path / "disk").iterdir()}
    disk.cut(Random(2))
    assert {path.name: path.read_bytes() for path in (tmp_path / "disk").iterdir()} == left
