"""Rings placed one after the other into what is left of a network: what the DDLJS algorithms share."""

from dlsched.exports import attach

__getattr__, __dir__, __all__ = attach(__name__)
