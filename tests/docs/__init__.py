"""The documents."""
