from .occupancy import Need as Need
from .occupancy import Occupancy as Occupancy
from .occupancy import Substrate as Substrate
from .placement import embedded as embedded
from .placement import join as join
from .placement import place as place
