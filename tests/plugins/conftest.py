"""An environment of its own, in which the packages of `examples` are installed as their users would install them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import Done
from support.folders import ROOT
from support.plugins import installed

PACKAGES = ("plugin", "bundles")


class Environment:
    """A fresh environment that sees the packages of this one, Harbor among them."""

    def __init__(self, folder: Path):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        self.python = folder / "bin" / "python"
        self.site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
        (self.site / "beside.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")

    def install(self, package: Path) -> None:
        """Install a package from its folder, without the network."""
        words = ["pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index", package]
        assert (done := self.run(*words)).returncode == 0, done.stderr

    def run(self, *words: object, cwd: Path | str = ".") -> Done:
        """Run a module of Python's."""
        command, variables = [self.python, "-P", "-m", *words], {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        return subprocess.run([*map(str, command)], cwd=cwd, env=variables, capture_output=True, text=True, check=False)

    def suite(self, package: Path, place: Path) -> Done:
        """Run the tests of a package from a copy, as its author runs them."""
        (place / "suite").mkdir()
        for file in (*package.glob("test_*.py"), *package.glob("*.toml")):
            shutil.copy(file, place / "suite")
        return self.run("pytest", "-q", "-p", "no:cacheprovider", cwd=place / "suite")


@pytest.fixture(scope="session")
def environment(tmp_path_factory) -> Environment:
    """Install both packages; from copies, as the build leaves files beside the source."""
    made = Environment(tmp_path_factory.mktemp("environment") / "venv")
    for name in PACKAGES:
        copy, built = tmp_path_factory.mktemp("sources") / name, ("build", "*.egg-info", "__pycache__")
        made.install(shutil.copytree(ROOT / "examples" / name, copy, ignore=shutil.ignore_patterns(*built)))
    return made


@pytest.fixture
def in_company(environment) -> Iterator[None]:
    """Let this process find what is installed in that environment."""
    with installed(environment.site):
        yield
