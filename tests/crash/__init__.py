"""A crash lab: the command line is killed, cut off from power, disk, handles and time, and resumed; what it leaves must
equal what a run leaves that was never stopped.

`make crash` runs it; see `crash.__main__`.
"""
