"""The mechanisms: pure rules of who must act now, and what follows from the actions."""
