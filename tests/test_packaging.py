"""What is shipped is what is on disk, and it runs from a built wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from harbor._core.faces import __version__
from support.folders import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS = ("harbor", "graphs", "personas", "memory", "evaluation")


def packages_on_disk() -> dict[str, str]:
    """Every folder that holds an `__init__.py`, by the name of its package."""
    found = {}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("__init__.py"):
            place = path.parent.relative_to(ROOT).as_posix()
            name = place.replace("/", ".")
            found[name if folder == "harbor" else f"harbor.{name}"] = place
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel from a copy of what git would commit, so that no stale build folder leaks in."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in (*FOLDERS, "pyproject.toml", "README.md", "LICENSE"):
        subprocess.run(["cp", "-r", str(ROOT / name), str(source)], check=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(out), "."]
    subprocess.run(command, cwd=source, check=True)
    return next(out.glob("harbor_auctions-*.whl"))


def test_the_package_list_is_the_disk():
    assert sorted(SETTINGS["tool"]["setuptools"]["packages"]) == sorted(packages_on_disk())
    mapped = SETTINGS["tool"]["setuptools"]["package-dir"]
    assert mapped == {name: place for name, place in packages_on_disk().items() if place in FOLDERS}


@pytest.mark.slow
def test_the_wheel_holds_every_module_and_data_file(wheel):
    shipped = set(zipfile.ZipFile(wheel).namelist())
    for package, place in packages_on_disk().items():
        for path in (ROOT / place).iterdir():
            if path.suffix in {".py", ".toml", ".md", ".typed", ".j2", ".css"}:
                assert f"{package.replace('.', '/')}/{path.name}" in shipped
    templates = [path.relative_to(ROOT).as_posix() for path in (ROOT / "harbor" / "_cli" / "templates").glob("*/*")]
    assert templates
    assert set(templates) <= shipped


def python(*words: str, cwd: Path, **environment: str) -> str:
    variables = {**os.environ, **environment}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
def test_an_auction_runs_from_the_wheel(wheel, tmp_path):
    site = str(tmp_path / "site")
    python("-m", "pip", "install", "-q", "--no-deps", "--target", site, str(wheel), cwd=tmp_path)
    script = (
        "import harbor, sys; assert harbor.__file__.startswith(sys.argv[1]); from harbor import Auction, Bidder;"
        "print(len(Auction(bidders=[Bidder('Ann'), Bidder('Ben')], items={'count': 2}).run().standings))"
    )
    assert python("-c", script, site, cwd=tmp_path, PYTHONPATH=site) == "2"


def test_the_module_runs_from_the_root_of_a_checkout():
    assert python("-m", "harbor", "--version", cwd=ROOT).startswith("harbor ")


def test_importing_harbor_loads_no_framework():
    script = (
        "import harbor, sys; print(sorted({name.split('.')[0] for name in sys.modules} &"
        " {'autogen_core', 'langgraph', 'langchain_core', 'pydantic', 'sklearn', 'chromadb', 'rich', 'typer'}))"
    )
    assert python("-c", script, cwd=ROOT.parent) == "[]"


def test_the_version_is_the_distributions():
    assert SETTINGS["project"]["version"] == __version__
