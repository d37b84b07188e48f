"""The way of a call: a prompt, the form of its reply, the line where it waits, and the meaning of its faults."""
