"""Problems, algorithms, claims and readers of one's own, from modules that are not installed: `load` and `loaded`."""

from dlsched.models.registry import INTERFACE, PluginWarning, load, loaded

__all__ = ["INTERFACE", "PluginWarning", "load", "loaded"]
