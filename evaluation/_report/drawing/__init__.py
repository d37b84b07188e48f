"""Canvas, axes and marks that all figures share."""
