"""Doors: an agent from any framework takes a seat through one JSON protocol over several transports."""
