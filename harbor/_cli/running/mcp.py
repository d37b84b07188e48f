"""The command that serves Harbor to agents, by the Model Context Protocol."""

from __future__ import annotations

import errno
import os
import secrets
import shlex
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harbor._cli.running.auctions import Config
from harbor._cli.shared.arguments import Changes, Preset, Set
from harbor._cli.shared.files import chosen_config, load, override, presets
from harbor._cli.shared.shell import interruptible, run_until_stopped, show, spread
from harbor._cli.shared.trust import named_by, settle_trust, settle_trust_in_settings
from harbor._core.basics.errors import ConfigError
from harbor._core.basics.redaction import secret_variable
from harbor._core.files.layout import EVENTS, check_run
from harbor._core.plugins.finding import command

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from harbor._config.auction import AuctionConfig
    from harbor._mcp.held_auctions import HeldAuction, HeldAuctions
    from harbor._mcp.host_tools import House

GRACE_SECONDS = 5.0
"""Longest time that clients have over HTTP to hear the end of the auction, before the server ends."""


@spread
def mcp(
    config: Config = None,
    preset: Preset = None,
    seat: Annotated[
        list[str] | None, typer.Option(help="A bidder whom a client plays, as if it had agent = true; repeatable.")
    ] = None,
    changes: Changes = Changes(),
    set_: Set = None,
    http: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=0, max=65_535, help="Serve over HTTP; default: stdio. 0: any free port."),
    ] = None,
    address: Annotated[str, typer.Option(help="The address for HTTP.")] = "127.0.0.1",
    host_key_env: Annotated[
        str, typer.Option(metavar="NAME", help="The variable with the key of hosts over HTTP; unset: a new key.")
    ] = "HARBOR_HOST_KEY",
    wait: Annotated[float, typer.Option(min=0, help="How many seconds to wait for clients that do not come.")] = 300,
    max_cost: Annotated[
        float | None,
        typer.Option(help="The most that all hosted models may cost, in dollars; without it none is asked."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A new folder for the run; without an auction, one for all.")] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the code and programs that a sent JSON file or a host names.")
    ] = False,
) -> None:
    """Let MCP clients, such as agents and chat apps, bid in auctions, hold them and run experiments.

    With an auction: hold that one, or go on with it, given the folder of its run. Clients take its seats, and over HTTP
    the command ends with it.
    """
    if config is None and preset is None and seat:
        raise ConfigError(f"--seat {seat[0]} is of an auction, and none is named; name a TOML file or a preset")
    run = Path(config) if config is not None and Path(config).is_dir() else None
    if run is not None and (preset or seat or changes != Changes() or set_ or out):
        raise ConfigError(f"{config!r} is a run, which goes on as it began; drop the options that change it")
    try:
        import mcp as _  # noqa: F401 - check that it is installed
    except ImportError as error:
        raise ConfigError("harbor mcp needs its SDK; run: pip install 'harbor-auctions[mcp]'") from error
    from harbor._mcp.held_auctions import for_clients
    from harbor._mcp.host_tools import House, Purse
    from harbor._models.budget import check_limit

    if max_cost is not None:
        check_limit(max_cost)
    house = House(Path("runs"), presets, load, named_by, trust, Purse(max_cost))
    if run is not None:
        begun, limit = _resumed(run, trust)
        house = house if max_cost is not None else replace(house, purse=Purse(limit))
        _hold(house, begun, run, True, wait, http, address, host_key_env)
    elif config is None and preset is None:
        house = replace(house, runs=out or house.runs)
        run_until_stopped(_serve(house, None, None, False, wait, http, address, host_key_env))
    else:
        settle_trust_in_settings(config, trust)
        served = for_clients(override(chosen_config(config, preset), changes, set_ or ()), seat or ())
        _hold(house, served, out, False, wait, http, address, host_key_env)


def _resumed(run: Path, trust: bool) -> tuple[AuctionConfig, float | None]:
    """Read the settings of a run, and its limit in dollars."""
    check_run(run)
    from harbor._runs.folder import check_unchanged, read_config
    from harbor._runs.manifest import AuctionOptions, kept

    check_unchanged(run)
    settle_trust(run, trust)
    return read_config(run), kept(run, AuctionOptions).max_cost


def _hold(
    house: House, config: AuctionConfig, out: Path | None, resumes: bool, wait: float, http: int | None, *web: str
) -> None:
    """Hold the auction of the command; tell how to resume after an interruption."""
    from harbor._runs.folder import run_name

    folder = out or house.runs / run_name(config.name)
    where = "" if http is None else f" --http {http}"
    again = f"{command()} mcp {shlex.quote(str(folder))}{where}"
    with interruptible(f"output folder {str(folder)!r}", folder / EVENTS, again):
        run_until_stopped(_serve(house, config, folder, resumes, wait, http, *web))


async def _serve(
    house: House,
    config: AuctionConfig | None,
    folder: Path | None,
    resumes: bool,
    wait: float,
    http: int | None,
    address: str,
    host_key_env: str,
) -> None:
    from harbor._mcp.experiment_tools import ExperimentTools
    from harbor._mcp.held_auctions import HeldAuctions
    from harbor._mcp.serving import host_server

    if config is not None or http is not None:
        import_module("harbor._runs.seating")  # it takes seconds, so import it before clients wait
    held, experiments = HeldAuctions(house.runs), ExperimentTools(house)
    try:
        one = None if config is None else _held(held, house, config, folder, resumes, wait)
        hosts = host_server(held, house, experiments)
        if http is None:
            await hosts.run_stdio_async()
        else:
            await _over_http(held, one, hosts, address, http, host_key_env)
    finally:
        await experiments.close()
        await held.close()


def _held(
    held: HeldAuctions, house: House, config: AuctionConfig, folder: Path | None, resumes: bool, wait: float
) -> HeldAuction:
    """Begin to hold the auction, with the server's whole limit of cost."""
    from harbor._mcp.host_tools import check_cost

    max_cost = house.purse.dollars
    check_cost(config, max_cost, "--max-cost")
    if max_cost is not None:
        house.purse.take(max_cost)
    one = held.hold(config, wait, max_cost, folder, resumes)
    for seat in one.seats:
        _tell(f"seat of {seat.bidder}: {seat.token}")
    return one


async def _over_http(
    held: HeldAuctions, one: HeldAuction | None, hosts: MCPServer[Any], address: str, port: int, host_key_env: str
) -> None:
    from harbor._mcp.serving import FOR_BIDDERS, FOR_HOSTS, listening, seat_server, serve, web_app

    key = os.environ.get(secret_variable(host_key_env), "")
    try:
        door = listening(address, port)
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL or (error.errno or 0) < 0:  # a name that is not found has a code below 0
            wrong = f"--address {address!r} is no address of this machine; give one, such as 127.0.0.1"
            raise ConfigError(wrong) from error
        why = os.strerror(error.errno or 0)
        raise ConfigError(f"can't listen at {address}:{port} ({why}); choose another --http PORT") from error
    where = f"http://{f'[{address}]' if ':' in address else address}:{door.getsockname()[1]}"
    _tell(f"for bidders: {where}{FOR_BIDDERS}")
    _tell(f"for hosts: {where}{FOR_HOSTS} with the key {f'in {host_key_env}' if key else (key := _new_key())}")
    await serve(web_app(seat_server(held), hosts, key, address), door, None if one is None else _end_of(one))
    if one is not None and one.result is not None:
        show(one.result.metrics())
        typer.echo(f"log: {one.folder / EVENTS}")
    elif one is not None and one.failure is not None:
        raise one.failure


async def _end_of(one: HeldAuction) -> None:
    await one.ended()
    await one.left(GRACE_SECONDS)


def _new_key() -> str:
    return f"host-{secrets.token_urlsafe(18)}"


def _tell(line: str) -> None:
    """Print a line on stderr unredacted, because it has a token; stdout belongs to the protocol."""
    print(f"harbor: {line}", file=sys.stderr, flush=True)  # noqa: T201
