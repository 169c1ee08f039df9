from . import gavel as gavel
from . import topology_zoo as topology_zoo
