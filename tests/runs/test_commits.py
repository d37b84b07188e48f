"""The commit that a manifest names is read from files, and nothing in a `.git` that somebody sent is followed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from harbor._runs.manifest import MOST_HEAD, MOST_REFS, commit_of
from support.commands import harbor

COMMIT = "0123456789abcdef" * 2 + "01234567"


def git(folder: Path, *words: str) -> str:
    """Run git as somebody without settings."""
    alone = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *words]
    return subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("then", [
    (), (("pack-refs", "--all"),), (("checkout", "--detach"),),
    (("switch", "-c", "a/branch"), ("tag", "-a", "v1", "-m", "one"), ("pack-refs", "--all")),
    (("pack-refs", "--all"), ("commit", "--allow-empty", "-m", "two")),
], ids=["a branch", "packed", "detached", "packed with a tag", "packed before"])  # fmt: skip
def test_the_commit_is_that_which_git_tells_in_the_checkout_and_below_it_if_there_is_one(then, tmp_path):
    assert commit_of(tmp_path) is None
    git(tmp_path, "init", "-b", "main")
    assert commit_of(tmp_path) is None
    for words in (("commit", "--allow-empty", "-m", "one"), *then):
        git(tmp_path, *words)
    inner = tmp_path / "some" / "where"
    inner.mkdir(parents=True)
    assert [commit_of(tmp_path), commit_of(inner)] == [git(tmp_path, "rev-parse", "HEAD")] * 2


HOSTILE = {
    "empty": {}, "no commit": {"HEAD": b"0123"}, "binary": {"HEAD": bytes(range(256))},
    "huge": {"HEAD": b"0" * (MOST_HEAD + 1)}, "a path up": {"HEAD": b"ref: refs/../../secret"},
    "an absolute path": {"HEAD": b"ref: /secret"}, "outside refs": {"HEAD": b"ref: config"},
    "a deep name": {"HEAD": b"ref: refs" + b"/a" * 2_000},
    "no such branch": {"HEAD": b"ref: refs/heads/main", "packed-refs": b"# pack-refs\n^" + COMMIT.encode() + b"\n\n"},
    "huge packed refs": {"HEAD": b"ref: refs/heads/main", "packed-refs": b"\n" * (MOST_REFS + 1)},
    "binary packed refs": {"HEAD": b"ref: refs/heads/main", "packed-refs": b"\xff" * 100},
    "a folder as a branch": {"HEAD": b"ref: refs/heads", "refs/heads/main": COMMIT.encode()},
}  # fmt: skip


@pytest.mark.parametrize("harm", HOSTILE)
def test_a_hostile_checkout_has_no_commit_and_costs_nothing(harm, tmp_path):
    (tmp_path / "secret").write_text(COMMIT)
    for name, content in ({"keep": b""} | HOSTILE[harm]).items():
        file = tmp_path / "folder" / ".git" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    assert commit_of(tmp_path / "folder") is None


@pytest.mark.parametrize("linked", ["", "HEAD", "refs", "refs/heads", "refs/heads/main"])
@pytest.mark.parametrize("kind", ["link", "pipe", "gitdir"])
def test_no_link_is_followed_and_no_pipe_is_waited_for(linked, kind, tmp_path):
    for place in (tmp_path / "theirs", tmp_path / "folder" / ".git"):
        (place / "refs" / "heads").mkdir(parents=True)
        (place / "HEAD").write_text("ref: refs/heads/main")
        (place / "refs" / "heads" / "main").write_text(COMMIT)
    assert commit_of(tmp_path / "folder") == COMMIT
    bait, theirs = tmp_path / "folder" / ".git" / linked, tmp_path / "theirs"
    bait.rename(tmp_path / "moved")
    {
        "link": lambda: bait.symlink_to(theirs / linked), "pipe": lambda: os.mkfifo(bait),
        "gitdir": lambda: bait.write_text(f"gitdir: {theirs}"),
    }[kind]()  # fmt: skip
    assert commit_of(tmp_path / "folder") is None


def test_a_run_that_is_started_in_a_checkout_says_its_commit_and_starts_no_program(tmp_path):
    git(tmp_path, "init")
    git(tmp_path, "commit", "--allow-empty", "-m", "one")
    commit = git(tmp_path, "rev-parse", "HEAD")
    git(tmp_path, "config", "core.fsmonitor", f"touch {tmp_path / 'started'}; false")
    assert harbor("auction", "water", "--out", "run", cwd=tmp_path).returncode == 0
    assert not (tmp_path / "started").exists()
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["git"] == {"commit": commit}
