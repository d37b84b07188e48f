"""A bidder's nodes wired to a LangGraph graph."""
