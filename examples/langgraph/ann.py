"""A Harbor bidder as its own graph, JSON in and JSON out. A person approves each bid."""

from __future__ import annotations

from harbor import Bidder, bidder_graph

graph = bidder_graph(Bidder("Ann", budget=500_000), values={"Wren House": 440_000}, approve=True)
