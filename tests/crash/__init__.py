"""A crash lab: it kills the command line or cuts its power, disk, handles and time, and resumes it. The
resumed run must equal a run that was never stopped.

`make crash` runs the lab; see `crash.__main__`.
"""
