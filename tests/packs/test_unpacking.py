"""Packs that somebody made to do harm, or that broke on the way: each is one line, and nothing is left behind."""

from __future__ import annotations

import json
import os
import shutil
import stat
import struct
import zlib
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
from harbor._packs import contents as limits
from harbor._packs import unpacking
from harbor._packs.contents import OF_A_RUN, OF_THE_WHOLE, fault_of
from harbor._packs.unpacking import unpack
from support.commands import harbor, mistake

GOOD = {"config.json": b"one", "1/events.jsonl": b"two"}
Entries = list[tuple[ZipInfo | str, bytes]]


def pack_json(files: Mapping[str, bytes], **changes: object) -> bytes:
    digests = {name: sha256(content).hexdigest() for name, content in files.items()}
    told = {"format": 1, "kind": "run", "published": False, "harbor": "0.1.0", "files": digests}
    return json.dumps(told | changes).encode()


def zipped(path: Path, entries: Entries, how: int = ZIP_DEFLATED) -> Path:
    with ZipFile(path, "w", how) as archive:
        for entry, content in entries:
            archive.writestr(entry, content, compress_type=how)
    return path


def good(path: Path, files: Mapping[str, bytes] = GOOD, **changes: object) -> Path:
    return zipped(path, [*files.items(), ("pack.json", pack_json(files, **changes))])


def named(name: str) -> Callable[[Path], Path]:
    """A pack with one more file, which has this name and is listed."""
    return lambda path: good(path, {**GOOD, name: b"three"})


def of_kind(mode: int, name: str = "results.json") -> Callable[[Path], Path]:
    """A pack with one more entry, of this kind."""

    def make(path: Path) -> Path:
        entry = ZipInfo(name)
        entry.create_system, entry.external_attr = 3, mode << 16
        files = {**GOOD, name: b"/etc/passwd"}
        return zipped(path, [*GOOD.items(), (entry, b"/etc/passwd"), ("pack.json", pack_json(files))])

    return make


def twice(path: Path) -> Path:
    with pytest.warns(UserWarning, match="Duplicate name"):
        return zipped(
            path, [("config.json", b"one"), ("config.json", b"two"), ("pack.json", pack_json({"config.json": b"two"}))]
        )


def changed(old: bytes, new: bytes, where: int = 1) -> Callable[[Path], Path]:
    """A good pack, stored as it is, with some bytes changed: only the first place, or all."""

    def make(path: Path) -> Path:
        content = zipped(path, [*GOOD.items(), ("pack.json", pack_json(GOOD))], ZIP_STORED).read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new, where))
        return path

    return make


def flagged(path: Path) -> Path:
    """A pack whose first entry says that it is encrypted."""
    content = bytearray(good(path).read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + place] |= 1
    path.write_bytes(content)
    return path


def cut(path: Path) -> Path:
    content = good(path).read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    return path


def bomb(path: Path) -> Path:
    """A pack of 300 KB that would fill 300 MB."""
    entry = ZipInfo("results.json")
    entry.compress_type = ZIP_DEFLATED
    zeros = bytes(2**20)
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        with archive.open(entry, "w", force_zip64=True) as opened:
            for _ in range(300):
                opened.write(zeros)
        archive.writestr("pack.json", pack_json(GOOD))
    return path


def lying(path: Path) -> Path:
    """A pack whose file is longer than it declares: 2**20 bytes under a size of 3."""
    name, content = b"config.json", bytes(2**20)
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = squeezed.compress(content) + squeezed.flush()
    good(path, {"config.json": b"one"})
    whole = bytearray(path.read_bytes())
    begin = whole.index(name) + len(name)
    end = whole.index(b"PK\x03\x04", begin)
    moved = len(data) - (end - begin)
    whole[begin:end] = data
    struct.pack_into("<L", whole, 18, len(data))
    first = whole.index(b"PK\x01\x02")
    struct.pack_into("<L", whole, first + 20, len(data))
    second = whole.index(b"PK\x01\x02", first + 4)
    struct.pack_into("<L", whole, second + 42, struct.unpack_from("<L", whole, second + 42)[0] + moved)
    last = whole.index(b"PK\x05\x06")
    struct.pack_into("<L", whole, last + 16, first)
    path.write_bytes(whole)
    return path


def many(path: Path) -> Path:
    """A file whose end says that it has more entries than a pack may have."""
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)
    end_64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 10**7, 10**7, 10**9, 0)
    path.write_bytes(bytes(100) + end_64 + struct.pack("<4sLQL", b"PK\x06\x07", 0, 100, 1) + end)
    return path


def written(content: bytes) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.write_bytes(content)
        return path

    return make


def wrong(path: Path) -> Path:
    told = json.loads(pack_json({"config.json": b"one"}))
    told["files"]["config.json"] = "0" * 64
    return zipped(path, [("config.json", b"one"), ("pack.json", json.dumps(told).encode())])


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
FOREIGN = [
    "\u0661/config.json",
    "a\u202eb",
    *ELSEWHERE.split(),
    *READ_BY_OTHERS.split(),
    *NEARLY.split(),
    "config.json ",
    "config.json\n",
    "x" * 401,
]
HOSTILE: dict[str, tuple[Callable[[Path], Path], str]] = {
    **{name: (named(name), f"has the entry {name!r}, which is no file that Harbor packs") for name in FOREIGN},
    "device": (named("games/nul/all/0001/config.json"), "is that of a device"),
    "link": (of_kind(stat.S_IFLNK | 0o777), "a link, a folder or a device"),
    "device file": (of_kind(stat.S_IFCHR | 0o666), "a link, a folder or a device"),
    "pipe": (of_kind(stat.S_IFIFO | 0o666), "a link, a folder or a device"),
    "folder without slash": (of_kind(stat.S_IFDIR | 0o755), "a link, a folder or a device"),
    "twice": (twice, "has the entry 'config.json' twice"),
    "bomb": (bomb, "don't trust it"),
    "longer than declared": (lying, "can't be read"),
    "too many": (many, "10,000,000 entries are more"),
    "changed byte": (changed(b"one", b"owe"), "can't be read"),
    "changed in both": (changed(sha256(b"one").hexdigest().encode(), b"0" * 64), "can't be read"),
    "wrong digest": (wrong, "does not match its digest"),
    "no digest": (lambda path: zipped(path, [*GOOD.items()]), "has no pack.json"),
    "unlisted": (
        lambda path: zipped(path, [("results.json", b""), *GOOD.items(), ("pack.json", pack_json(GOOD))]),
        "not list",
    ),
    "missing": (lambda path: zipped(path, [("pack.json", pack_json(GOOD))]), "lacks '1/events.jsonl'"),
    "encrypted": (flagged, "is encrypted"),
    "another compression": (lambda path: zipped(path, [("config.json", b"one")], ZIP_BZIP2), "unknown way"),
    "newer": (lambda path: good(path, format=2), "format 2, and this Harbor reads 1; upgrade"),
    "no format": (lambda path: good(path, format="1x"), "format"),
    "strange key": (lambda path: good(path, more=1), "unknown key"),
    "no JSON": (lambda path: zipped(path, [("pack.json", b"{")]), "can't be read"),
    "deep JSON": (lambda path: zipped(path, [("pack.json", b"[" * 10**5)]), "can't be read"),
    "cut short": (cut, "cut short"),
    "empty": (written(b""), "cut short"),
    "no zip": (written(b"hello" * 100), "no zip file"),
    "comment at the end": (lambda path: good(path) and commented(path), "no zip file"),
}


def commented(path: Path) -> Path:
    with ZipFile(path, "a") as archive:
        archive.comment = b"more"
    return path


@pytest.mark.parametrize("harm", HOSTILE)
def test_a_hostile_pack_is_one_line_and_nothing_is_left_behind(tmp_path, harm):
    make, says = HOSTILE[harm]
    (tmp_path / "deep").mkdir()
    file = make(tmp_path / "deep" / "bad.harbor.zip")
    before = sorted(tmp_path.rglob("*"))
    assert says in mistake(harbor("unpack", file, cwd=tmp_path / "deep"))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_good_pack_is_unpacked_for_its_owner_alone(tmp_path):
    folder = unpack(good(tmp_path / "good.harbor.zip"), tmp_path / "out")
    assert {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == {
        **GOOD,
        "pack.json": pack_json(GOOD),
    }
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "1")}
    assert (modes, stat.S_IMODE((folder / "config.json").stat().st_mode)) == ({0o700}, 0o600)


def test_a_folder_that_exists_is_left_as_it_is(tmp_path):
    file = good(tmp_path / "good.harbor.zip")
    (tmp_path / "good").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert "exists" in mistake(harbor("unpack", file, cwd=tmp_path))
    assert "exists" in mistake(harbor("unpack", file, "--out", tmp_path / "link"))
    assert "can't be written" in mistake(harbor("unpack", file, "--out", tmp_path / "none" / "out"))
    assert not list((tmp_path / "good").iterdir())


@pytest.mark.parametrize("given", ["nowhere.zip", "."])
def test_what_is_no_file_is_refused(tmp_path, given):
    assert "is no file" in mistake(harbor("unpack", given, cwd=tmp_path))


def test_a_file_that_is_no_pack_is_not_taken_for_the_folder_it_would_go_to(tmp_path):
    (tmp_path / "exp.toml").write_text("name = 'a design'")
    assert "give what harbor pack wrote" in mistake(harbor("unpack", "exp.toml", cwd=tmp_path))


def test_a_small_pack_may_be_squeezed_hard_and_a_large_one_not(tmp_path, monkeypatch):
    file = good(tmp_path / "good.harbor.zip", {"results.json": bytes(2**22)})
    assert unpack(file, tmp_path / "small").is_dir()
    monkeypatch.setattr(unpacking, "SMALL", 2**20)
    assert "don't trust it" in mistake(harbor("unpack", file, "--out", tmp_path / "large"))


def test_files_beyond_the_most_are_refused(tmp_path, monkeypatch):
    file = good(tmp_path / "good.harbor.zip")
    monkeypatch.setattr(unpacking, "MOST_FILES", 2)
    assert "3 entries are more" in mistake(harbor("unpack", file, "--out", tmp_path / "out"))
    monkeypatch.setattr(unpacking, "MOST_FILES", limits.MOST_FILES)
    monkeypatch.setattr(unpacking, "MOST_BYTES", 5)
    assert "don't trust it" in mistake(harbor("unpack", file, "--out", tmp_path / "out"))


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
