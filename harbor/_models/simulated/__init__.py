"""The built-in model: a chat model that plays by arithmetic, from nothing but the facts of a prompt."""
