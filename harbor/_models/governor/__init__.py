"""The governor: when a call may start, by the limits of its provider and key, given or learned."""
