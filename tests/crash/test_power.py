"""The data that the crash lab removes from a folder when it cuts the power."""

from __future__ import annotations

import json
from random import Random

import pytest

from crash.power import Disk

SEEDS = range(40)


@pytest.fixture
def begun(tmp_path):
    """Give a folder whose file `old` is on disk, as often as asked for."""

    def begin(name):
        folder = tmp_path / str(name) / "disk"
        folder.mkdir(parents=True)
        (folder / "old").write_bytes(b"old")
        return folder, Disk(folder, folder.parent / "journal", folder.parent / "attic")

    return begin


def note(place, /, **what):
    with (place.parent / "journal").open("a") as journal:
        journal.write(json.dumps(what) + "\n")


def write_synced(path, content):
    path.write_bytes(content)
    note(path.parent, file=path.stat().st_ino, size=path.stat().st_size)


def test_what_was_synced_survives_and_what_was_not_is_gone_cut_or_zeroed(begun):
    for seed in SEEDS:
        folder, disk = begun(seed)
        write_synced(folder / "new", b"synced")
        note(folder, folder=folder.stat().st_ino, names={path.name: path.stat().st_ino for path in folder.iterdir()})
        (folder / "new").write_bytes(b"syncedlater")
        disk.cut(Random(seed))
        found = (folder / "new").read_bytes()
        assert found.startswith(b"synced")
        assert b"syncedlater".startswith(found.rstrip(b"\0"))
        assert found != b"syncedlater"
        assert (folder / "old").read_bytes() == b"old"
