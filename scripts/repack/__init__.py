"""The build side: from upstream's pinned releases to SDK trees, wheels and conda packages."""
