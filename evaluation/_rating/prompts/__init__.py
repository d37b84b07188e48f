"""The prompts of a judge model: text files, filled by `harbor.graphs._context.prompting.fill`."""
