"""What the records of an experiment say, with intervals, and how many games it would take to say more."""
