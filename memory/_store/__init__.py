"""LangGraph's long-term store on Chroma."""
