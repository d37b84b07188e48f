"""How one bidder thinks: the graph, its nodes, prompts and replies."""
