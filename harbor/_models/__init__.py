"""Language models: their providers, connections, calls, replies, prices and budgets."""
