"""In the batch lane, calls of many games wait for each other and go to a provider as one job, at half the price."""
