from . import gavel as gavel
from . import topology_zoo as topology_zoo
from .reader import Reader as Reader
from .reader import reader as reader
from .reader import readers as readers
