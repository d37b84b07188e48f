"""The games: pure rules for the asks of a state and the events that follow from the actions."""
