"""The words of the house: asks, events, the log, money, errors; no game, no model, no framework."""
