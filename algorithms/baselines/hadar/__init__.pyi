from . import gavel as gavel
