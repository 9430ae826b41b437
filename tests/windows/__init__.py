"""The Windows lane: real Windows programs, run by Wine on Linux."""
