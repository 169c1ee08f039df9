from .program import ExactProgram as ExactProgram
from .program import ProgramBuilder as ProgramBuilder
