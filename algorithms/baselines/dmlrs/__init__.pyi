from . import dorm as dorm
from . import drf as drf
from . import fifo as fifo
from . import oasis as oasis
