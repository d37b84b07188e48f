"""The settings of agents: given, named, a program or a server, and what is refused of each in one line."""

from __future__ import annotations

import re

import pytest

from harbor import AgentCommand, AgentServer, Bidder
from harbor._core.basics.errors import ConfigError

PROGRAM = {"command": ["node", "bidder.mjs"], "env": ["NODE_KEY"]}
SERVER = {"url": "http://localhost:1/turn", "api_key_env": "MY_KEY"}


@pytest.mark.parametrize(("written", "meant"), [
    (True, True),
    ("mine:bid", "mine:bid"),
    (PROGRAM, AgentCommand(**PROGRAM)),
    (SERVER, AgentServer(**SERVER)),
])  # fmt: skip
def test_an_agent_is_given_or_named_or_a_program_or_a_server(written, meant):
    bidder = Bidder("Tal", agent=written)
    assert bidder.agent == meant
    assert not bidder.uses_model
    assert Bidder(**bidder.model_dump(mode="json")) == bidder


@pytest.mark.parametrize(("written", "complaint"), [
    ("", "agent '': must not be empty"),

    (["node"], 'agent: is no agent; write "module:NAME", { command = '),
    ({}, "agent: is neither a program nor a server; write command = "),


    ({"address": "http://here"}, "unknown key 'address'; choose one of: api_key_env, command, env, url"),

    ({"command": []}, "agent.command: must contain at least one"),
    ({"command": [" "]}, "agent.command: names no program; write a program and its arguments"),
    ({"command": "node 'b.mjs"}, "is one text; write the program and each argument apart: .'node'"),
    ({"command": ["node", "--key=sk-abcdefgh12345678"]}, "agent.command: has a key in it, .* name that in env"),
    ({"command": ["node"], "env": ["A-B"]}, "agent.env.0. .A-B.: must match the pattern"),
    ({"url": "ftp://here"}, "agent.url 'ftp://here': is no address of a server"),
    ({"url": "http://me:sesame@here/"}, "agent.url .*: has a key or a password in it, .* put the key in api_key_e"),
    ({"url": "http://here/?api_key=abcdefgh"}, "agent.url .*: has a key or a password in it"),
    ({"url": "http://here", "command": ["node"]}, "agent: is a program and a server; keep command or url"),
])  # fmt: skip
def test_a_setting_of_an_agent_that_can_not_be_is_refused_in_one_line(written, complaint):
    with pytest.raises(ConfigError, match=complaint) as refused:
        Bidder("Tal", agent=written)
    assert "\n" not in str(refused.value)
    assert not re.search("sesame|abcdefgh", str(refused.value))
