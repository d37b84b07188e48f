"""Language models: the client, replay of recorded calls, prices."""
