"""Everything that several commands need: options, places, output, trust."""
