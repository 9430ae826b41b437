"""The release: index, channel, checksums, and rebuilding what was released."""
