from . import hadar as hadar
from . import smd as smd
