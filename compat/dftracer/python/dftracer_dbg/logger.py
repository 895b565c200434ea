"""See dftracer.python."""
from dftracer.python import *
from dftracer.python import __all__
