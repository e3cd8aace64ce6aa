"""Tables of rows: CSV, Parquet and Arrow files, their columns, and the labels that say what made them."""
