"""The CI workflows: linted, and in step with the scripts that they run."""
