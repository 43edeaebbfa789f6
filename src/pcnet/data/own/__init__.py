"""Your own graph, from tables (CSV, TSV, Parquet, data frames), `.npz`, GraphML, NetworkX, PyG or SciPy."""
