"""Python imports this first of all in the workers of an experiment, as this folder is first on their path."""

from crash.inside import worker

worker.settle_in()
