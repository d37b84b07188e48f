"""What nodes work with: state, facts, prompts, replies."""
