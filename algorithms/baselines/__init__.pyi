from . import ddljs as ddljs
from . import dmlrs as dmlrs
from . import hadar as hadar
from . import smd as smd
