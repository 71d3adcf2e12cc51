"""Words of time that no grammar reads: what a model is asked about them, and what it may answer."""
