from . import gavel as gavel
from . import gavel_policies as gavel_policies
from . import max_min as max_min
