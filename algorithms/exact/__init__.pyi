from .certificates import ExactProgram as ExactProgram
from .certificates import ProgramBuilder as ProgramBuilder
from .certify import Certificate as Certificate
from .certify import Route as Route
from .certify import certify as certify
from .dispatch import optimum as optimum
from .result import Optimum as Optimum
