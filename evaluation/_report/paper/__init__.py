"""Files for papers and other programs: figures, LaTeX, CSV, Parquet."""
