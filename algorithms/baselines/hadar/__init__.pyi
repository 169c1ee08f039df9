from . import gavel as gavel
from . import max_min as max_min
