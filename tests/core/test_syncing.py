"""Syncing: a line is on the disk when it is said to be, and a folder is there whole or not at all."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from harbor._core.files.safe_files import SyncedFile, new_folder, write_whole
from support.power import patch_syncing, synced_sizes


def test_a_line_is_safe_after_sync_and_a_second_sync_costs_nothing(tmp_path):
    with synced_sizes() as safe:
        file = SyncedFile((tmp_path / "calls").open("ab"))
        file.append(b"one\n")
        assert safe(tmp_path / "calls") == 0
        file.sync()
        assert safe(tmp_path / "calls") == 4
        file.append(b"two\n")
        file.close()
    assert safe(tmp_path / "calls") == 8


@pytest.mark.parametrize("threads", [True, False])
def test_what_is_synced_soon_is_safe_when_the_file_is_closed_with_and_without_threads(threads, tmp_path, monkeypatch):
    def none_left(_):
        raise RuntimeError("can't start new thread")

    if not threads:
        monkeypatch.setattr(threading.Thread, "start", none_left)
    with synced_sizes() as safe:
        file = SyncedFile((tmp_path / "calls").open("ab"))
        for _ in range(20):
            file.append(b"line\n")
            file.sync_soon()
        assert threads or safe(tmp_path / "calls") == 0
        file.close()
    assert safe(tmp_path / "calls") == 100


def test_an_error_of_the_disk_is_told_however_often_it_is_asked_for(tmp_path, monkeypatch):
    errors = [OSError(5, "Input/output error")]  # the operating system tells it once
    patch_syncing(monkeypatch, lambda _: errors and (_ for _ in ()).throw(errors.pop()))
    file = SyncedFile((tmp_path / "calls").open("ab"))
    file.append(b"one\n")
    for tell in (file.sync, file.sync, file.close):
        with pytest.raises(OSError, match="Input/output"):
            tell()


def test_a_folder_whose_making_broke_off_is_not_there_and_can_be_made_again(tmp_path):
    path = tmp_path / "runs" / "mine"
    with suppress(ZeroDivisionError), new_folder(path) as draft:
        (draft / "config.json").write_text("half")
        raise ZeroDivisionError
    assert not path.exists()
    with synced_sizes() as safe, new_folder(path) as draft:
        (draft / "config.json").write_text("whole")
    assert (path / "config.json").read_text() == "whole"
    assert [file.name for file in (tmp_path / "runs").iterdir()] == ["mine"]
    assert safe(path / "config.json") == 5
    assert safe(path) > 0
    assert safe(path.parent) > 0


def test_what_is_there_is_not_written_over_and_a_file_is_safe_before_it_has_its_name(tmp_path):
    (tmp_path / "mine").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError), new_folder(tmp_path / "mine"):
        pass
    with synced_sizes() as safe:
        write_whole(tmp_path / "results.json", b"{}\n", synced=True)
    assert safe(tmp_path / "results.json") == 3
