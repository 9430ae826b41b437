"""`xpu-dev smoke`."""
