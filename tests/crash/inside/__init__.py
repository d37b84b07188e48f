"""The code inside the processes that the lab stops. It notes their acts and changes nothing else."""
