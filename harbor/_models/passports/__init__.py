"""What is known of each model at each server, learned from its answers."""
