"""`harbor mcp`: one auction or many, over stdio and over HTTP, to clients of the SDK's own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from support.commands import HARBOR, harbor, mistake
from support.mcp_clients import Played, play, withdraw

SMALL = """
name = "small"
items = [{ name = "Vase", start = 100, true_value = 200 }, { name = "Clock", start = 50, true_value = 80 }]
bidders = [{ name = "Ann", agent = true }, { name = "Ben", rule = "minimum-raise" }]
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.mark.slow
async def test_a_chat_app_that_starts_the_command_finds_its_seat_and_plays_it(small, tmp_path):
    program, *words = [*HARBOR, "mcp", str(small)]
    started = StdioServerParameters(command=program, args=words, cwd=str(tmp_path), env=dict(os.environ))
    async with Client(stdio_client(started, errlog=subprocess.DEVNULL)) as client:
        played = Played()
        [held] = (await played.call(client, "list_auctions"))["auctions"]
        await play(client, held["seats"]["Ann"], withdraw)
        while (found := await played.call(client, "read_standings", auction=held["auction"]))["status"] != "over":
            pass
    assert found["standings"][0]["bidder"] == "Ben"
    assert len(list((tmp_path / "runs").iterdir())) == 1


async def begin(*words: str, cwd: Path, until: bytes = b"for hosts") -> tuple[asyncio.subprocess.Process, str]:
    """Start the command, and read what it says up to the line that has these words."""
    command = [*HARBOR, "mcp", *words]
    process = await asyncio.create_subprocess_exec(*command, cwd=cwd, stdin=-1, stdout=-1, stderr=-1)
    said = b""
    while until not in said:
        said += await process.stderr.readline()
    return process, said.decode()


async def served(*words: str, cwd: Path) -> tuple[asyncio.subprocess.Process, str, str]:
    """Start a server, and give Ann's token and the address for bidders too."""
    process, said = await begin(*words, "--http", "0", cwd=cwd)
    return process, *(re.search(rf"{what}: (\S+)", said)[1] for what in ("seat of Ann", "for bidders"))


@pytest.mark.studies
async def test_ctrl_c_ends_the_server(tmp_path):
    process, said = await begin("demo", "--seat", "Ann", cwd=tmp_path, until=b"seat of Ann")
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 130
    assert "Traceback" not in said + (await process.stderr.read()).decode()


@pytest.mark.parametrize(("words", "complaint"), [
    ("--seat Ann", "--seat Ann is of an auction, and none is named; name a TOML file or a preset"),
    ("demo", "name one or more, with --seat NAME or in the seats of hold_auction: Ann, Ben, Cho"),
    ("demo --seat Zed", "unknown bidder 'Zed'; choose one of: Ann, Ben, Cho"),
    ("learning --seat Learner", "the config is of a series of auctions"),
    ("demo --seat Ann --model openai:gpt-4o-mini", "may cost money; give --max-cost"),
    ("--max-cost 0", "a limit of 0.0 dollars can't be kept"),
])  # fmt: skip
def test_what_cannot_be_served_is_refused_in_one_line(words, complaint, tmp_path):
    assert complaint in mistake(harbor("mcp", *words.split(), cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_refused_in_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        complaint = mistake(harbor("mcp", "--http", port, cwd=tmp_path))
    assert complaint == f"can't listen at 127.0.0.1:{port} (Address already in use); choose another --http PORT"


def test_an_address_that_this_machine_does_not_have_is_refused_in_one_line(tmp_path):
    complaint = mistake(harbor("mcp", "--http", 0, "--address", "192.0.2.1", cwd=tmp_path))
    assert complaint == "--address '192.0.2.1' is no address of this machine; give one, such as 127.0.0.1"


@pytest.mark.slow
async def test_over_http_an_auction_that_was_stopped_goes_on_with_new_tokens_and_the_command_ends_with_it(
    small, tmp_path
):
    process, token, url = await served(str(small), "--out", "run", "--max-cost", "3", cwd=tmp_path)
    async with Client(url) as client:
        turn = await Played().call(client, "wait_for_turn", seat=token)
        await Played().call(client, "answer", seat=token, turn=turn["turn"], answer="I withdraw.")
        after = await Played().call(client, "wait_for_turn", seat=token)
    process.send_signal(signal.SIGTERM)
    out, said = await process.communicate()
    assert (process.returncode, out, said) == (130, b"", b"harbor: stopped; resume with: harbor mcp run --http 0\n")
    process, again, url = await served("run", cwd=tmp_path)
    async with Client(url) as client:
        played = Played()
        assert (await played.call(client, "wait_for_turn", seat=again))["turn"] == after["turn"]
        await played.call(client, "what_happened", seat=token)
        await play(client, again, withdraw, played)
    out, rest = await process.communicate()
    assert (process.returncode, rest, "Ben" in out.decode()) == (0, b"", True)
    assert f"log: {Path('run') / 'events.jsonl'}" in out.decode()
    assert '"status":"over"' in played.heard[-1]
    assert (again != token, "no seat here" in played.refused[0]) == (True, True)
    files = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "run").glob("*.json*"))
    assert [one for one in (token, again) if one in files] == []
    assert harbor("verify", tmp_path / "run").returncode == 0
    assert [one["max_cost"] for one in json.loads((tmp_path / "run" / "manifest.json").read_text())["options"]] == [3.0]
