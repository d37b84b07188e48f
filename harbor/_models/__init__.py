"""Language models: providers and their connections, how a run opens its models, prices and budgets."""
