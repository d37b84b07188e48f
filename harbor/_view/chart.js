// Draws one picture as SVG, from marks: lines, steps, points, bars, bands.
