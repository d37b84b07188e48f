"""Packs that somebody made to do harm, or that broke on the way: each is one line, and nothing is left behind."""

from __future__ import annotations

import json
import os
import shutil
import stat
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harbor._core.basics.errors import HarborError, RunFolderError
from harbor._core.files.marks import is_in_own, write_settings
from harbor._packs import unpacking
from harbor._packs.contents import OF_A_RUN, OF_THE_WHOLE, fault_of
from harbor._packs.unpacking import unpack
from support.commands import harbor, mistake
from support.folders import contents

GOOD = {"config.json": b"one", "1/events.jsonl": b"two"}
Entries = list[tuple[ZipInfo | str, bytes]]
Make = Callable[[Path], Path]


def pack_json(files: Mapping[str, bytes], **changes: object) -> bytes:
    digests = {name: sha256(content).hexdigest() for name, content in files.items()}
    told = {"format": 1, "kind": "run", "published": False, "harbor": "0.1.0", "files": digests}
    return json.dumps(told | changes).encode()


def zipped(path: Path, entries: Entries, how: int = ZIP_DEFLATED) -> Path:
    with ZipFile(path, "w", how) as archive:
        for entry, content in entries:
            archive.writestr(entry, content, compress_type=how)
    return path


def good(path: Path, files: Mapping[str, bytes] = GOOD, how: int = ZIP_DEFLATED, **changes: object) -> Path:
    return zipped(path, [*files.items(), ("pack.json", pack_json(files, **changes))], how)


def of_kind(mode: int) -> Make:
    """A pack with one more entry, of this kind."""
    entry, content = ZipInfo("results.json"), b"/etc/passwd"
    entry.create_system, entry.external_attr = 3, mode << 16
    told = pack_json({**GOOD, "results.json": content})
    return lambda path: zipped(path, [*GOOD.items(), (entry, content), ("pack.json", told)])


def twice(path: Path) -> Path:
    name, content = "config.json", b"two"
    with pytest.warns(UserWarning, match="Duplicate name"):
        return zipped(path, [(name, b"one"), (name, content), ("pack.json", pack_json({name: content}))])


def edited(change: Callable[[bytes], bytes]) -> Make:
    """A good pack, stored as it is, with some bytes changed."""

    def make(path: Path) -> Path:
        content = good(path, how=ZIP_STORED).read_bytes()
        path.write_bytes(changed := change(content))
        assert changed != content
        return path

    return make


def flagged(content: bytes) -> bytes:
    """Let the first entry say that it is encrypted."""
    changed = bytearray(content)
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        changed[content.index(signature) + place] |= 1
    return bytes(changed)


def lying(path: Path) -> Path:
    """A pack whose first file is longer than it declares: 2**20 bytes under a size of 3."""
    whole = bytearray(good(path, {"config.json": bytes(2**20)}).read_bytes())
    for declared in (22, whole.index(b"PK\x01\x02") + 24):
        struct.pack_into("<L", whole, declared, 3)
    path.write_bytes(whole)
    return path


def many(path: Path) -> Path:
    """A file whose end says that it has more entries than a pack may have."""
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)
    end_64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 10**7, 10**7, 10**9, 0)
    path.write_bytes(bytes(100) + end_64 + struct.pack("<4sLQL", b"PK\x06\x07", 0, 100, 1) + end)
    return path


ELSEWHERE = "../x 1/../../x ./x 1//x /tmp/x 1/ 1 C:x C:/x ..\\x \\\\server\\x \uff43onfig.json"
READ_BY_OTHERS = """
.env .git .git/config .git/hooks/post-checkout .ssh/authorized_keys .netrc .duckdbrc matplotlibrc setup.cfg
sitecustomize.py usercustomize.py json.py conftest.py harbor/__init__.py a.pth report.html view_files/a/all/0001.html
mark games/a/all/0001/mark store.json memory/chroma.sqlite3 memory/store.json .lock notes.txt
games/a/all/0001/.env games/a/all/0001/1/.git/config
"""
NEARLY = """
CONFIG.JSON config.json. 1./config.json 1/results.json 1/1/config.json 1111111111/config.json games/config.json
games/A/all/0001/config.json games/a/all/1/config.json games/a/../0001/config.json memory/config.json 1/NUL.txt
"""
FOREIGN = [*f"{ELSEWHERE} {READ_BY_OTHERS} {NEARLY}".split(), "\u0661/config.json", "a\u202eb", "config.json ",
           "config.json\n", "x" * 401]  # fmt: skip
A_KIND, UNREADABLE = "a link, a folder or a device", "can't be read"
HOSTILE: dict[str, tuple[Make, str]] = {
    "device": (lambda path: good(path, {**GOOD, "games/nul/all/0001/config.json": b""}), "is that of a device"),
    "link": (of_kind(stat.S_IFLNK | 0o777), A_KIND), "device file": (of_kind(stat.S_IFCHR | 0o666), A_KIND),
    "pipe": (of_kind(stat.S_IFIFO | 0o666), A_KIND), "folder without slash": (of_kind(stat.S_IFDIR | 0o755), A_KIND),
    "twice": (twice, "has the entry 'config.json' twice"),
    "longer than declared": (lying, UNREADABLE), "too many": (many, "10,000,000 entries are more"),
    "changed byte": (edited(lambda content: content.replace(b"one", b"owe", 1)), UNREADABLE),
    "changed in both": (
        edited(lambda content: content.replace(sha256(b"one").hexdigest().encode(), b"0" * 64)), UNREADABLE),
    "wrong digest": (
        lambda path: zipped(path, [*GOOD.items(), ("pack.json", pack_json(dict.fromkeys(GOOD, b"three")))]),
        "does not match its digest"),
    "no digest": (lambda path: zipped(path, [*GOOD.items()]), "has no pack.json"),
    "unlisted": (
        lambda path: zipped(path, [("results.json", b""), *GOOD.items(), ("pack.json", pack_json(GOOD))]), "not list"),
    "missing": (lambda path: zipped(path, [("pack.json", pack_json(GOOD))]), "lacks '1/events.jsonl'"),
    "encrypted": (edited(flagged), "is encrypted"),
    "another compression": (lambda path: zipped(path, [("config.json", b"one")], ZIP_BZIP2), "unknown way"),
    "newer": (lambda path: good(path, format=2), "format 2, and this Harbor reads 1; upgrade"),
    "no format": (lambda path: good(path, format="1x"), "format"),
    "strange key": (lambda path: good(path, more=1), "unknown key"),
    "no JSON": (lambda path: zipped(path, [("pack.json", b"{")]), UNREADABLE),
    "deep JSON": (lambda path: zipped(path, [("pack.json", b"[" * 10**5)]), UNREADABLE),
    "cut short": (edited(lambda content: content[: len(content) * 2 // 3]), "cut short"),
    "empty": (edited(lambda _: b""), "cut short"), "no zip": (edited(lambda _: b"hello" * 100), "no zip file"),
    "comment at the end": (edited(lambda content: content[:-2] + b"\x04\x00more"), "no zip file"),
}  # fmt: skip


def refused(folder: Path, make: Make, says: str) -> None:
    (folder / "deep").mkdir()
    file = make(folder / "deep" / "bad.harbor.zip")
    before = sorted(folder.rglob("*"))
    assert says in mistake(harbor("unpack", file, cwd=folder / "deep"))
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("harm", HOSTILE)
def test_a_hostile_pack_is_one_line_and_nothing_is_left_behind(tmp_path, harm):
    refused(tmp_path, *HOSTILE[harm])


@pytest.mark.parametrize("name", FOREIGN)
def test_an_entry_that_harbor_does_not_pack_is_one_line_and_nothing_is_left_behind(tmp_path, name):
    says = f"has the entry {name!r}, which is no file that Harbor packs"
    refused(tmp_path, lambda path: good(path, {**GOOD, name: b"three"}), says)


def test_a_good_pack_is_unpacked_for_its_owner_alone(tmp_path):
    folder = unpack(good(tmp_path / "good.harbor.zip"), tmp_path / "out")
    assert contents(folder) == {**GOOD, "pack.json": pack_json(GOOD)}
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "1", folder / "config.json")]
    assert modes == [0o700, 0o700, 0o600]


def test_what_exists_is_left_as_it_is_and_what_is_no_pack_is_refused(tmp_path):
    file = good(tmp_path / "good.harbor.zip")
    (tmp_path / "good").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "exp.toml").write_text("name = 'a design'")
    for said, *words in (
        ("exists", file), ("exists", file, "--out", tmp_path / "link"),
        ("can't be written", file, "--out", tmp_path / "none" / "out"), ("is no file", "nowhere.zip"),
        ("is no file", "."), ("give what harbor pack wrote", "exp.toml"),
    ):  # fmt: skip
        assert said in mistake(harbor("unpack", *words, cwd=tmp_path))
    assert not list((tmp_path / "good").iterdir())


@pytest.mark.parametrize(("limit", "says"), [
    (("SMALL", 2**20), "don't trust it"), (("MOST_BYTES", 2**20), "don't trust it"),
    (("MOST_FILES", 1), "2 entries are more"),
])  # fmt: skip
def test_a_pack_beyond_a_limit_is_refused_and_a_small_one_may_be_squeezed_hard(limit, says, tmp_path, monkeypatch):
    file = good(tmp_path / "good.harbor.zip", {"results.json": bytes(2**22)})
    assert unpack(file, tmp_path / "small").is_dir()
    monkeypatch.setattr(unpacking, *limit)
    assert says in mistake(harbor("unpack", file, "--out", tmp_path / "large"))


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.data())
def test_a_pack_with_any_bytes_changed_is_unpacked_unchanged_or_refused(tmp_path, data):
    content = bytearray(good(tmp_path / "good.harbor.zip").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file, out = tmp_path / "changed.harbor.zip", tmp_path / f"out-{os.urandom(6).hex()}"
    file.write_bytes(content)
    with suppress(HarborError):
        unpack(file, out)
        assert {name: (out / name).read_bytes() for name in GOOD} == GOOD
        shutil.rmtree(out)
    assert not out.exists()
    assert not list(tmp_path.glob(".*"))


@settings(max_examples=300)
@given(st.lists(st.sampled_from([*FOREIGN, *OF_A_RUN, *OF_THE_WHOLE, *"/.a1-", "games/", "0001/"])).map("".join))
def test_a_name_that_is_taken_stays_in_the_folder_and_ends_as_harbors_do(name):
    if not fault_of(name):
        assert not Path(name).is_absolute()
        assert ".." not in Path(name).parts
        assert Path("folder", name).resolve().is_relative_to(Path("folder").resolve())
        assert Path(name).name in (*OF_A_RUN, *OF_THE_WHOLE, "pack.json")


def test_a_pack_is_not_unpacked_to_where_it_would_be_a_part_of_ones_own(tmp_path):
    (tmp_path / "run").mkdir()
    write_settings(tmp_path / "run", {"config.json": b"{}"})
    for name in ("1", "memory"):
        with pytest.raises(RunFolderError, match="would be a part of a run of yours"):
            unpack(good(tmp_path / "sent.zip"), tmp_path / "run" / name)
    assert not is_in_own(unpack(tmp_path / "sent.zip", tmp_path / "run" / "sent"))
