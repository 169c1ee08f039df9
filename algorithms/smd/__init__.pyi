from .admission import NeverAdmitted as NeverAdmitted
from .admission import Outer as Outer
from .admission import OuterStep as OuterStep
from .inner import Inner as Inner
from .inner import InnerStep as InnerStep
from .inner import Settings as Settings
from .inner import inner_step as inner_step
from .run import run as run
