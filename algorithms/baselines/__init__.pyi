from . import hadar as hadar
