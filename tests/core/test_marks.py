"""A folder is its user's own if it has a mark, by the user's key, over the settings that it has now."""

from __future__ import annotations

import shutil
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from harbor._core.basics.errors import ConfigError
from harbor._core.files.marks import is_in_own, is_own, mark, vouched, write_settings

FILES = {"config.json": b"{}\n", "manifest.json": b'{"config_digest": "44136f"}\n'}


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("HARBOR_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "run").mkdir()
    write_settings(tmp_path / "run", FILES)
    return tmp_path / "run"


def test_a_folder_that_was_made_here_is_own_and_so_are_its_copies(run, tmp_path):
    shutil.copytree(run, tmp_path / "copy")
    shutil.move(run, tmp_path / "moved")
    assert is_own(tmp_path / "copy")
    assert is_own(tmp_path / "moved")


def linked(run):
    (run / "config.json").rename(run.parent / "elsewhere")
    (run / "config.json").symlink_to(run.parent / "elsewhere")


CHANGED = {
    **{f"swapped {name}": lambda run, name=name: (run / name).write_bytes(b'{"models": {}}') for name in FILES},
    "one more file of settings": lambda run: (run / "experiment.json").write_bytes(b"{}"),
    "one file in place of another": lambda run: (run / "config.json").rename(run / "experiment.json"),
    "no mark": lambda run: (run / "mark").unlink(),
    **{f"a mark of {len(forged)} {forged[:1]}": lambda run, forged=forged: (run / "mark").write_bytes(forged)
       for forged in (b"", b"0" * 64, b"0" * 65, b"\xff" * 64)},
    "settings behind a link": linked,
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_a_folder_whose_settings_or_mark_were_changed_is_a_strangers(run, change):
    assert is_own(run)
    change(run)
    assert not is_own(run)


def test_what_another_user_made_is_a_strangers_until_it_is_marked(run, monkeypatch, tmp_path):
    monkeypatch.setenv("HARBOR_STATE", str(tmp_path / "other"))
    assert not is_own(run)
    mark(run)
    assert is_own(run)


def test_the_key_is_private_and_is_made_when_it_is_first_needed(tmp_path, state):
    (tmp_path / "sent").mkdir()
    assert not is_own(tmp_path / "sent")
    assert not state.exists()
    write_settings(tmp_path / "sent", FILES)
    [key] = state.iterdir()
    assert (stat.S_IMODE(key.stat().st_mode), len(key.read_bytes())) == (0o600, 32)
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


def test_of_several_that_make_the_key_at_once_all_have_the_same(tmp_path):
    folders = [tmp_path / str(number) for number in range(16)]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda folder: write_settings(folder, FILES), folders))
    assert all(map(is_own, folders))


def test_without_a_home_for_the_key_nothing_is_written_and_the_remedy_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HARBOR_STATE", str(tmp_path / "file"))
    (tmp_path / "new").mkdir()
    with pytest.raises(ConfigError, match="name a folder in HARBOR_STATE"):
        write_settings(tmp_path / "new", FILES)
    assert list((tmp_path / "new").iterdir()) == []
    assert not is_own(tmp_path / "new")


def test_a_damaged_key_is_told_of(run, state):
    (state / "mark.key").write_bytes(b"short")
    with pytest.raises(ConfigError, match=r"is damaged: it has 5 bytes; remove it"):
        mark(run)
    assert not is_own(run)


def test_the_nearest_mark_says_whose_a_file_inside_is(run, tmp_path):
    (run / "memory").mkdir()
    assert is_in_own(run / "memory")
    assert not is_own(run / "memory")
    shutil.copytree(run, run / "sent")
    (run / "sent" / "config.json").write_bytes(b"[]")
    assert not is_in_own(run / "sent" / "memory")
    assert not is_in_own(tmp_path)


def test_a_folder_that_the_driver_vouches_for_needs_no_mark(tmp_path, state):
    (tmp_path / "game").mkdir()
    with vouched(tmp_path / "game"):
        assert is_in_own(tmp_path / "game" / "memory")
        assert not is_in_own(tmp_path / "other")
    assert not is_in_own(tmp_path / "game")
    assert not state.exists()


def test_the_parts_of_what_is_ones_own_are_ones_own_and_a_strangers_folder_inside_is_a_strangers(run):
    own = ("memory", "1/memory", "games/a/b/0001", "games/a/b/0001/12/memory")
    sent = ("sent/memory", "sent/1", "games/sent", "memory.sent", "1/2", "games/a/b/sent", "1/../sent", "../strangers")
    for place in own + sent:
        (run / place).mkdir(parents=True, exist_ok=True)
        (run / place / "config.json").touch()
        assert is_in_own(run / place) == is_in_own(run / place / "config.json") == (place in own), place
    assert is_in_own(run / "config.json")
