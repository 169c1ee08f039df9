from .events import Exact as Exact
from .events import Rounding as Rounding
from .events import Selection as Selection
from .events import SlotEmbedding as SlotEmbedding
from .run import run as run
