"""The Python interface of DFTracer, on sonde's tracer.

    from dftracer.logger import dftracer, dft_fn      # as in release 1
    from dftracer.python import dftracer, dft_fn, ai  # as in release 2

Both names lead to the same objects, in dftracer.python.
"""
