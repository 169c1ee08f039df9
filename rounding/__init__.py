"""From a fractional point to an integral one."""
