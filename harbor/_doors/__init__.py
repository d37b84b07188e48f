"""Doors: how an agent of any make takes a seat, by one protocol in JSON over several transports."""
