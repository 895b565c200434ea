/*
 * python-image: symbols of the file of a CPython interpreter (the executable or libpython).
 *
 * Addresses are the file's own; `loads` map them to those of a process. Files are untrusted: everything is
 * bounds-checked.
 */
#ifndef SONDE_PROBE_PYTHON_PYTHON_IMAGE_H
#define SONDE_PROBE_PYTHON_PYTHON_IMAGE_H

#include "probe/perf/addrspace.h"

#include <stdbool.h>
#include <stdint.h>

struct python_image {
	uint64_t runtime;   /* _PyRuntime, since 3.7; 0: missing */
	uint64_t version;   /* Py_Version, since 3.11; 0: missing */
	uint64_t code_type; /* PyCode_Type */
	/* _PyEval_EvalFrameDefault: file offsets, as in frames */
	uint64_t eval_start, eval_end;
	uint64_t code_delta; /* address minus offset of its code */
};

/* Returns the image of a module, searched once; NULL if it contains no interpreter. The module owns it. */
const struct python_image *python_image_of(struct module *m);

#endif
