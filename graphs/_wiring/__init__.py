"""A LangGraph graph of a bidder's nodes."""
