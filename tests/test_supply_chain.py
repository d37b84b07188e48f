"""What is installed: locked by hashes, from no place in particular, and under licences that bind nobody."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, distributions, version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.folders import ROOT

LOCKS = ("runtime", "dev")
UNLOCKED = {"torch", "pip", "harbor-auctions"}
"""Torch differs from place to place; pip comes with the interpreter."""
WEAK_COPYLEFT = {  # MPL-2.0: changes to their own files stay open; to use them binds nobody
    "certifi": "the certificates of Mozilla, under its licence",
    "hypothesis": "tests alone",
    "orjson": "a part of it; the rest is Apache-2.0 or MIT",
    "pathspec": "mypy alone uses it",
    "tqdm": "a part of it; the rest is MIT",
}
READ = {
    "axe-playwright-python": "MIT, by the text beside it; it brings axe, under MPL-2.0: tests alone",
    "docutils": "the GPL is that of a file for Emacs, which is not installed",
}
"""What says too little of its licence, or too much, and was looked up."""
REFUSED = re.compile(r"\bA?GPL|LGPL|GNU|Affero|SSPL|Server Side Public|Business Source|Commons Clause", re.IGNORECASE)
WEAK = re.compile(r"MPL|Mozilla", re.IGNORECASE)


def licences(package: Distribution) -> str:
    """What a package says of its licence: an expression, classifiers, or the first line of a text."""
    said = package.metadata
    classes = [line.rpartition("::")[2].strip() for line in said.get_all("Classifier", []) if "License ::" in line]
    text = (said.get("License") or "").strip().splitlines()[:1]
    return " | ".join(filter(None, [said.get("License-Expression"), *classes, *text]))


def locked(name: str) -> dict[str, list[tuple[Requirement, list[str]]]]:
    """The requirements of a lock, with their hashes, by package."""
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    found: dict[str, list[tuple[Requirement, list[str]]]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        requirement, *hashes = re.split(r"\s+--hash=", line)
        one = Requirement(requirement)
        found.setdefault(canonicalize_name(one.name), []).append((one, hashes))
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_everything_in_a_lock_is_one_version_with_hashes_from_no_place_and_without_torch_or_its_drivers(name):
    for requirements in locked(name).values():
        for requirement, hashes in requirements:
            assert re.fullmatch(r"==[\w.!+]+", str(requirement.specifier)), requirement
            assert hashes
            assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes), requirement
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    assert not re.search(r"https?:|file:|--(?:extra-)?index|--find-links| @ ", text)
    assert not [package for package in locked(name) if package.startswith(("torch", "nvidia", "triton", "cuda"))]


def test_what_runs_is_locked_alike_for_users_and_for_tests_and_a_lock_names_everything_that_is_asked_for():
    runtime, dev = locked("runtime"), locked("dev")
    versions = [{name: [str(one) for one, _ in lock[name]] for name in runtime} for lock in (runtime, dev)]
    assert versions[0] == versions[1]
    asked = [Requirement(line) for line in Distribution.from_name("harbor-auctions").requires or ()]
    names = {canonicalize_name(one.name) for one in asked if one.marker is None or "dev" in str(one.marker)}
    assert names <= set(dev) | UNLOCKED
    assert {canonicalize_name(one.name) for one in asked if one.marker is None} <= set(runtime)


def test_nothing_that_is_installed_has_a_licence_that_binds_its_users_or_none_and_weak_copyleft_is_known():
    installed = {canonicalize_name(package.metadata["Name"]): licences(package) for package in distributions()}
    known = {name: said for name, said in installed.items() if name not in READ}
    assert {name: said for name, said in known.items() if REFUSED.search(said) or not said} == {}
    assert {name for name, said in installed.items() if WEAK.search(said)} <= set(WEAK_COPYLEFT)


def test_the_version_of_autogen_is_the_one_that_the_room_was_written_for():
    assert version("autogen-core") == version("autogen-agentchat") == "0.7.5"
