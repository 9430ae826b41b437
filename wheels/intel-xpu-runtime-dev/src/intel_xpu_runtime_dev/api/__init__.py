"""Say which release of Level Zero and of Unified Runtime has which function."""
