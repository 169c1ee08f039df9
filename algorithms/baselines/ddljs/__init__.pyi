from . import drf as drf
from . import fifo as fifo
from . import las as las
