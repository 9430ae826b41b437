"""Intel's real Level Zero driver on GPUs that do not exist: everything compiles, nothing executes."""
