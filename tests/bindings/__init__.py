"""The ctypes bindings against upstream's real headers."""
