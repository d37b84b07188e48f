"""The prompts of a judge model: text files for `harbor.graphs._context.prompting.fill`."""
