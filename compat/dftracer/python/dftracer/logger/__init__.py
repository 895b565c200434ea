"""DFTracer's first name for its Python interface; see dftracer.python."""
from dftracer.python import *
from dftracer.python import __all__
