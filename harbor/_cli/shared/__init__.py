"""Code that several commands share: options, places, output, trust."""
