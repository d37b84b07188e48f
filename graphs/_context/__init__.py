"""Tools of the nodes: state, facts, prompts, replies."""
