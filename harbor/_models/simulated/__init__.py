"""The built-in model is a chat model that plays by arithmetic, from only the facts of a prompt."""
