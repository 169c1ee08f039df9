from . import drf as drf
from . import fifo as fifo
from . import gavel as gavel
from . import gavel_policies as gavel_policies
from . import las as las
from . import max_min as max_min
from . import srtf as srtf
from . import tiresias as tiresias
