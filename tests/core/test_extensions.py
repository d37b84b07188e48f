"""Extensions: found by name or by reference, refused in one line, and never because a file says so."""

from __future__ import annotations

import warnings
from contextlib import chdir

import pytest

from harbor._core.basics.errors import ConfigError
from harbor._core.plugins.extensions import HARBOR, KINDS
from harbor._core.plugins.finding import asked, check_references, everything, find, found, given, names, references, use
from harbor._games.game import ScriptedPolicy
from support.plugins import install, installed, remembering

GROUP = KINDS["policy"][0]


def policy(**changes: str) -> str:
    """The text of a module with one policy, with changes to its parts."""
    parts = {"name": "'mine'", "description": "'does nothing'", "make": "lambda *_: None"} | changes
    listed = ", ".join(f"{key}={value}" for key, value in parts.items() if value)
    return f"from harbor._games.game import ScriptedPolicy\nMINE = ScriptedPolicy({listed})\n"


ODD = f"""{policy()}
class Odd(ScriptedPolicy):
    @property
    def complaint(self):
        raise SystemExit(4)
    def __getattr__(self, name):
        raise SystemExit(4)
MINE = Odd(name="mine", description="odd", make=print)
"""
"""A value that ends the process when it is looked at."""


def brings(folder, name, text, entry="mine", value="MINE"):
    """Install a package with a module of this text, which brings a policy; return its folder."""
    return install(folder, name, {f"{name}_policy.py": text}, {GROUP: {entry: f"{name}_policy:{value}"}})


@pytest.fixture
def site(tmp_path, request):
    """An installed package that brings one policy; the test's parameter is the text of its module."""
    with installed(brings(tmp_path, "strange", getattr(request, "param", policy()))):
        yield


def test_a_value_is_found_by_the_name_of_its_entry_point(site):
    one = found("policy", "mine")
    assert (one.value.description, one.package, one.version, one.builtin) == ("does nothing", "strange", "0.1", False)


@pytest.mark.parametrize(("site", "complaint"), [
    ("raise OSError('no disk')", "can't be imported (OSError: no disk); mend it"),
    (ODD, "a look at its policy failed (SystemExit: 4); mend it"),
    ("MINE = 3", "'mine' is no policy, but 3; give a ScriptedPolicy"),
    (policy(uses="'max_bids'"), "policy 'mine' has uses 'max_bids', which is no tuple[str, ...]; give one"),
    (policy(uses="('max_bid',)"), "policy 'mine' uses unknown setting 'max_bid'; did you mean 'max_bids'?"),
    (policy(make=""), "policy 'mine' lacks make: what makes the policy of a bidder; give it one"),
    (policy(api="2"), "policy 'mine' is for version 2 of Harbor's extensions, and this Harbor has version 1"),
    (policy(name="'other'"), "entry point 'mine' brings the policy 'other'; give both the same name"),
], indirect=["site"])  # fmt: skip
def test_what_is_wrong_with_a_package_is_one_line_that_names_it_and_everything_else_goes_on(site, complaint):
    with pytest.raises(ConfigError) as refused:
        find("policy", "mine")
    assert str(refused.value).startswith("package 'strange' 0.1")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)
    assert find("policy", "random").name == "random"
    with pytest.warns(UserWarning, match="package 'strange' 0.1"):
        assert "random" in names("policy")


def test_a_name_of_harbors_own_stays_harbors_own(tmp_path):
    taken = "the name of the policy 'random' is taken by 'harbor-auctions'; rename it"
    with installed(brings(tmp_path, "thief", policy(name="'random'"), "random")):
        assert found("policy", "random").package == HARBOR
        with pytest.warns(UserWarning, match=taken):
            everything("policy")


def test_two_packages_with_one_name_are_both_named(tmp_path):
    for name in ("one", "two"):
        brings(tmp_path, name, policy())
    with installed(tmp_path), pytest.raises(ConfigError, match="packages 'one' and 'two'; uninstall all but one"):
        find("policy", "mine")


def test_an_entry_point_may_bring_several_values(tmp_path):
    with installed(brings(tmp_path, "several", policy() + "ALL = (MINE,)\n", "several", "ALL")):
        assert find("policy", "mine").description == "does nothing"


def test_a_reference_is_followed_from_the_working_directory_and_may_then_be_in_a_file(tmp_path):
    (tmp_path / "beside.py").write_text(policy(), encoding="utf-8")
    with installed(), chdir(tmp_path):
        asked("policy", "beside:MINE")
        one = found("policy", "beside:MINE")
        assert (one.name, one.package) == ("beside:MINE", "beside:MINE")
        assert references() == ("beside:MINE",)
        check_references({"bidders": [{"rule": "beside:MINE"}]}, "config 'sent'")


@pytest.mark.parametrize(("reference", "complaint"), [
    ("nowhere.at_all:MINE", "can't be imported (ModuleNotFoundError"),
    ("json:dumps", "'json:dumps' is no policy"),
    ("/tmp/policy.py", "is no name and no 'package.module:NAME'"),
    ("mine.py:MINE", "write 'mine:MINE', without .py"),
    ("lacking:MINE", "can't be imported (ModuleNotFoundError: No module named 'nowhere_at_all'); mend it"),
    ("minimum-rise", "did you mean 'minimum-raise'?"),
])  # fmt: skip
def test_a_name_that_leads_nowhere_is_refused_in_one_line(reference, complaint, tmp_path):
    (tmp_path / "mine.py").write_text("")
    (tmp_path / "lacking.py").write_text("import nowhere_at_all")
    with installed(), chdir(tmp_path), pytest.raises(ConfigError) as refused:
        asked("policy", reference)
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("values", [
    {"rules": {"game": "evil:GAME"}}, {"bidders": [{"name": "Ann", "rule": "evil.policies:MINE"}]},
    {"bidders": [{"nodes": ["reflect", "evil:NODE"]}]}, {"models": {"mine": {"use": "evil.chat:MODEL"}}},
    {"correlations": [["profit", "evil:METRIC"]]}, {"auction": {"catalogue": "evil:CATALOGUE"}},
    {"arms": [{"auction": {"bidders": {"*": {"agent": "evil:AGENT"}}}}], "metrics": ["profit", "evil:METRIC"]},
])  # fmt: skip
def test_a_file_that_may_have_been_sent_names_no_code(values):
    with installed(), pytest.raises(ConfigError, match=r"names the code 'evil.*harbor --plugin evil"):
        check_references(values, "config 'sent'")


def test_models_of_providers_and_names_of_people_are_no_code():
    with installed(), warnings.catch_warnings():
        values = {
            "models": {"a": {"use": "openai:o3"}}, "name": "evil:NAME", "bidders": [{"name": "a:B", "model": "x:y"}],
        }  # fmt: skip
        check_references(values, "config 'sent'")


def test_a_value_given_in_python_takes_the_place_of_the_one_given_before():
    one, other = (ScriptedPolicy(name="mine", description=text, make=lambda _: None) for text in ("first", "second"))
    with installed():
        use(one)
        use(other)
        assert (find("policy", "mine"), given()) == (other, ["mine"])


def test_what_there_is_comes_in_the_order_of_its_packages_whatever_was_asked_for_first(monkeypatch):
    with remembering(monkeypatch):
        usual = names("game")
    with remembering(monkeypatch):
        find("game", "water")
        assert names("game") == usual
