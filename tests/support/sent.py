"""Folders as an attacker might send them: settings with any names, with matching digests, and without a mark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any

SCRIPTED = """
items = { count = 1 }
[[bidders]]
name = "Ann"
rule = "random"
[[bidders]]
name = "Ben"
rule = "minimum-raise"
"""
"""An auction of scripted policies, as in a file."""


def forge(folder: Path, changes: Mapping[str, Any], settings: str = "config.json") -> None:
    """Change settings in a folder and all digests over them. The mark stays unchanged."""
    values = json.loads((folder / settings).read_text()) | dict(changes)
    text = json.dumps(values, indent=2)
    (folder / settings).write_text(text + "\n")
    begun = json.loads((folder / "manifest.json").read_text())
    begun |= {"config_digest": sha256(text.encode()).hexdigest()}
    if "experiment" in begun:
        begun["experiment"] = values
    (folder / "manifest.json").write_text(json.dumps(begun))


@contextmanager
def listening() -> Iterator[tuple[str, list[object]]]:
    """Listen on loopback. Yield the address and the list of connected clients."""
    visitors: list[object] = []

    class Visit(BaseRequestHandler):
        def handle(self) -> None:
            visitors.append(self.client_address)

    with ThreadingTCPServer(("127.0.0.1", 0), Visit) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", visitors
        finally:  # otherwise its thread spins on a closed socket until the process ends
            server.shutdown()
