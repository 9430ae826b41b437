"""Say which Level Zero and Unified Runtime functions a built file imports, and what it therefore runs on."""
