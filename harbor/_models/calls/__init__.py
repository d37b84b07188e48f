"""The way of a call: a prompt, the form of its reply, the line where it waits, and its faults."""
