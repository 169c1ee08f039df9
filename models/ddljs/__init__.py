"""The DDLJS problem: jobs whose workers form rings over a network of servers (Yu et al., GADGET)."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
