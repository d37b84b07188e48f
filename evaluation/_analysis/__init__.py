"""Statistics of the records of an experiment: estimates with intervals, comparisons, and power."""
