"""The law on bins of cells: log density, spatial, sensitivity, metrics."""
