"""Find Level Zero and Unified Runtime development kits and runtimes."""
