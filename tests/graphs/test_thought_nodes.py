"""Thoughts as values: a stranger's in the ordinary auction, and what is wrong with a broken one."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from harbor import Auction, Bidder, SimulatedChat, houses, of_type, resume
from harbor._config.auction import MemorySettings, MindSettings
from harbor._core.basics.errors import CodeError, ConfigError, RunFolderError
from harbor._core.plugins.finding import asked, everything
from harbor._models.simulated.chat_model import read_facts
from harbor.events import ModelCalled, SeatFailed, ThoughtFailed
from harbor.graphs._wiring.mind import NODES, levels, nodes_of
from harbor.testing._playing import equal
from support.asked import LARGE_STEPS
from support.folders import ROOT, halved, prompts
from support.plugins import install, installed
from support.thoughts import thought

PAPER = {"protocol": "aucarena", "reply": "tool", "context": "fresh", "facts": "json"}
"""The prompts of a paper."""


@pytest.fixture
def place(tmp_path, request):
    """A working directory with room for modules, and a name for one that no other test uses."""
    with installed(), chdir(tmp_path):
        yield f"thought_{abs(hash(request.node.name))}"


def auction(*nodes: str, **settings: Any) -> Auction:
    bidders = [Bidder("Ann", nodes=nodes, **settings), Bidder("Ben", rule="minimum-raise")]
    return Auction(items=houses(3, 1), bidders=bidders, rules=LARGE_STEPS)


def refusal(reference: str, *more: str) -> str:
    with pytest.raises(ConfigError) as refused:
        auction(reference, *more).run()
    assert "\n" not in str(refused.value)
    return str(refused.value)


# ---------------------------------------------------------------- a declared node


def test_a_declared_thought_is_had_and_its_conclusion_is_in_the_log(place):
    log = auction(thought(Path(), place)).run().log
    concluded = [entry.event for entry in log if type(entry.event).__name__ == "Reflected"]
    assert [one.lesson.startswith(f"{one.item} cost ") for one in concluded] == [True] * 3
    assert concluded[0].bidder == "Ann"
    assert [call.purpose for call in of_type(log, ModelCalled)].count("reflect") == 3
    assert not of_type(log, SeatFailed) + of_type(log, ThoughtFailed)


@pytest.mark.parametrize("protocol", [{}, PAPER], ids=["native", "paper"])
def test_later_prompts_of_its_bidder_alone_are_told_what_it_noted_and_what_that_is(place, protocol):
    bidders = [Bidder("Ann", nodes=(thought(Path(), place),), **protocol), Bidder("Ben", rule="minimum-raise")]
    bidders.append(Bidder("Cho", planning="static"))
    Auction(items=houses(3, 1), bidders=bidders, rules=LARGE_STEPS).run(out=Path("run"))
    others = [text for _, text in prompts(Path("run"), "Cho")]
    assert [text for text in others if "reflect" in text] == [] != others
    texts = prompts(Path("run"))
    told = [(task, read_facts(text)["reflect"]) for task, text in texts if '"reflect":' in text]
    assert {task for task, _ in told} == {"bid", "believe", "replan", "reflect"}
    bids = [notes for task, notes in told if task == "bid"]
    assert (len(bids[0]), len(bids[-1])) == (1, 2)
    for _, text in texts:
        is_explained = "`reflect`, if it is there, is what the items so far taught you." in text
        assert is_explained == (not protocol or '"reflect":' in text)  # all calls of Harbor's own begin alike


def test_it_runs_in_the_step_after_what_it_needs(place):
    node = asked("node", thought(Path(), place))
    nodes = nodes_of("english", MindSettings(nodes=(f"{place}:REFLECT",)), MemorySettings())
    assert nodes["reflect"] is node
    assert levels(nodes, "closed") == [["believe", "replan"], ["reflect"]]


def test_a_thought_at_a_call_comes_before_the_answer(place):
    facts = "lambda view: {'item': view.coming[0].name, 'price': view.coming[0].start}"
    conclude = "lambda reply, view: Reflected(view.name, view.coming[0].name, reply.lesson)"
    reference = thought(Path(), place, occasions="('call',)", needs="()", facts=facts, conclude=conclude)
    auction(reference).run(out=Path("run"))
    tasks = [task for task, _ in prompts(Path("run")) if task in ("bid", "reflect")]
    assert tasks[:4] == ["reflect", "bid", "reflect", "bid"]
    assert all('"reflect":' in text for task, text in prompts(Path("run")) if task == "bid")


def test_a_thought_makes_a_call_only_when_it_is_worth_it_and_after_the_auction_also_without_a_memory(place):
    rare = auction(thought(Path(), place, when="lambda view, ask: len(view.results) == 2")).run().log
    assert [call.purpose for call in of_type(rare, ModelCalled)].count("reflect") == 1
    other = {"name": "'late'", "tells": "'`late` is what came late.'", "occasions": "('end',)"}
    late = auction(thought(Path(), f"{place}_late", **other)).run().log
    assert [call.purpose for call in of_type(late, ModelCalled)][-1] == "late"


def test_two_thoughts_whose_replies_have_the_same_name_are_both_had(place):
    late = thought(Path(), f"{place}_late", name="'late'", tells="'`late` is what came late.'", occasions="('end',)")
    log = auction(thought(Path(), place), late).run().log
    assert {call.outcome for call in of_type(log, ModelCalled) if call.purpose in ("reflect", "late")} == {"ok"}
    assert of_type(log, ThoughtFailed) == []


def test_an_interrupted_run_with_a_thought_of_ones_own_resumes_to_the_same_log(place):
    whole = auction(thought(Path(), place)).run(out=Path("run")).log
    equal(whole, resume(halved(Path("run"))).log)


BROKEN, MISSING = "has a mistake in its code", "found no such fact in the game 'english'"
MISTAKES = [
    ("facts", "closed", "1 / 0", BROKEN, "ZeroDivisionError: division by zero"),
    ("facts", "call", "view.coming[9]", MISSING, "IndexError: tuple index out of range"),
    ("when", "call", "1 / 0", BROKEN, "ZeroDivisionError: division by zero"),
    ("fold", "closed", "{}['x']", MISSING, "KeyError: 'x'"),
]


@pytest.mark.parametrize(("piece", "occasion", "code", "told", "mistake"), MISTAKES)
def test_a_mistake_in_the_code_of_a_thought_is_no_play_and_ends_the_run_in_one_line(
    place, piece, occasion, code, told, mistake
):
    broken = thought(Path(), place, occasions=f"('{occasion}',)", **{piece: f"lambda view, *_: {code}"})
    with pytest.raises(CodeError) as ended:
        auction(broken).run(out=Path("run"))
    line = str(ended.value)
    assert line.startswith(f"bidder 'Ann': the node 'reflect' {told}")
    assert f"({mistake}, at {place}.py:" in line
    assert "\n" not in line
    assert "seat_failed" not in Path("run/events.jsonl").read_text()


def test_a_run_whose_bidder_can_open_no_more_files_ends_as_that_is_no_play_of_its(place):
    lacks = thought(Path(), place, facts="lambda *_: (_ for _ in ()).throw(OSError(24, 'Too many open files'))")
    with pytest.raises(RunFolderError) as ended:
        auction(lacks).run(out=Path("run"))
    line = "bidder 'Ann' can't think: too many files are open: allow more with `ulimit -n 4096`"
    assert str(ended.value).startswith(line)
    assert "seat_failed" not in Path("run/events.jsonl").read_text()


def test_a_run_that_ended_for_a_mistake_goes_on_once_that_is_mended(place):
    whole = auction(thought(Path(), place)).run().log
    text = Path(f"{place}.py").read_text()
    thought(Path(), place, conclude="lambda reply, view: Reflected('Ben', 'x', 'y')")
    sys.modules.pop(place, None)
    with installed(), pytest.raises(CodeError, match="give a Reflected of 'Ann'"):
        auction(f"{place}:REFLECT").run(out=Path("run"))
    Path(f"{place}.py").write_text(text)
    sys.modules.pop(place, None)
    with installed():
        asked("node", f"{place}:REFLECT")
        assert len(resume(Path("run")).log) == len(whole)


def test_an_installed_thought_is_named_by_its_name(tmp_path):
    thought(tmp_path / "site", "installed_thought")
    folder = install(tmp_path / "site", "strange", {}, {"harbor.nodes": {"reflect": "installed_thought:REFLECT"}})
    with installed(folder):
        log = auction("reflect").run().log
    assert "reflect" in {call.purpose for call in of_type(log, ModelCalled)}


# ---------------------------------------------------------------- what is refused


WRONG = [
    ({"name": ""}, "lacks name: its name, in lower case; give it one"),
    ({"prompt": ""}, "lacks prompt: the file of its prompt; give it one"),
    ({"answer": ""}, "lacks answer: how the built-in model replies, from the facts of the prompt; give it one"),
    ({"tells": ""}, "lacks tells: a sentence that explains this fact to later prompts; give it one"),
    ({"occasions": "('lunch',)"}, "unknown occasion 'lunch'; choose some of 'opening', 'call', 'closed', 'end'"),
    ({"event": "Words"}, "give a class that is a PrivateEvent"),
    ({"reply": "dict"}, "has reply <class 'dict'>; give a class that is a BaseModel"),
    ({"name": "'re_flect'"}, "must have a name with hyphens instead of underscores; rename it"),
    ({"tells": "'What you think.'"}, "does not say what `reflect` is; name it so, in backticks"),
    (
        {"name": "'lost'", "tells": "'`lost`'", "needs": "('beleive',)"},
        "unknown node 'beleive'; did you mean 'believe'?",
    ),
    (
        {"name": "'idle'", "tells": "'`idle`'", "on": "lambda *_: False"},
        "is off with the settings of this bidder; drop it",
    ),
    ({"answers": "True", "occasions": "('call',)"}, "'bid' and 'reflect' each answer a call"),
    ({"name": "'budget'", "tells": "'`budget` is it.'"}, "has a name that prompts use for something else: `budget`"),
]


def test_a_broken_node_is_refused_in_one_line(place):
    for number, (changes, complaint) in enumerate(WRONG):
        assert complaint in refusal(thought(Path(), f"{place}_{number}", **changes))


def test_a_prompt_that_cannot_be_filled_or_read_is_refused(place):
    facts = "\n<facts>\n${facts}\n</facts>"
    for prompt in ("What now?", f"What of ${{item}}?{facts}", f"It cost $5.{facts}"):
        assert "has a prompt that can't be filled" in refusal(thought(Path(), place, prompt))
    Path("reflect.md").unlink()
    assert "has a prompt that can't be read" in refusal(f"{place}:REFLECT")


def test_nodes_that_wait_for_each_other_or_are_there_already_or_nowhere_are_refused_before_a_run_is_written(place):
    one = thought(Path(), place, needs="('other',)")
    other = thought(Path(), f"{place}_too", name="'other'", needs="('reflect',)", tells="'`other` is another.'")
    assert "the nodes 'other' and 'reflect' wait for each other; change what one of them needs" in refusal(one, other)
    assert refusal("plan") == "bidder 'Ann': node 'plan' is a node of the game 'english' already; drop it"
    with pytest.raises(ConfigError):
        auction("nowhere").run(out=Path("run"))
    assert not Path("run").exists()


# ---------------------------------------------------------------- Harbor's own


def test_every_node_of_harbors_own_comes_in_by_the_door_and_is_whole():
    found = [one.value for one in everything("node") if one.builtin]
    assert found == list(NODES)
    assert [node.complaint() for node in found] == [""] * len(found)


def test_the_nodes_are_loaded_without_a_framework():
    code = """
import sys
from harbor._config.auction import MemorySettings, MindSettings
from harbor._core.plugins.finding import everything
from harbor.graphs._wiring.mind import nodes_of
assert everything("node")
assert nodes_of("english", MindSettings(), MemorySettings()) and nodes_of("water", MindSettings(), MemorySettings())
print({name.partition(".")[0] for name in sys.modules} & {"langgraph", "langchain_core", "chromadb", "numpy"})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "set()"


def test_a_task_in_a_prompt_never_makes_the_built_in_model_follow_code(place):
    thought(Path(), place)
    for task in (f"{place}:REFLECT", "../reflect"):
        with pytest.raises(ValueError, match="knows no task"):
            SimulatedChat().invoke(f"<facts>\n{json.dumps({'task': task})}\n</facts>")
    assert place not in sys.modules
