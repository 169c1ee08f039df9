from . import esw as esw
from . import optimus as optimus
