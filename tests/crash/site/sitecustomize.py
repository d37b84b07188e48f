"""Python imports this module first in the workers of an experiment, because its folder is first on their path."""

from crash.inside import worker

worker.settle_in()
