"""Stand-ins for what no package has. No report may call one of them a device."""
