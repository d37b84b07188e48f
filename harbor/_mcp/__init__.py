"""Harbor as a server of the Model Context Protocol: its tools, for agents that bid and for agents that host."""
