/*
 * image: what the file of a CPython interpreter (the program or libpython) says of itself.
 *
 * Addresses are the file's own; `loads` turn them into those of a process. Files are
 * hostile: everything is bounded.
 */
#ifndef SONDE_PROBE_PYTHON_PYTHON_IMAGE_H
#define SONDE_PROBE_PYTHON_PYTHON_IMAGE_H

#include "probe/perf/addrspace.h"

#include <stdbool.h>
#include <stdint.h>

struct python_image {
	uint64_t runtime;   /* _PyRuntime, since 3.7; 0: it has none */
	uint64_t version;   /* Py_Version, since 3.11; 0: it has none */
	uint64_t code_type; /* PyCode_Type */
	/* _PyEval_EvalFrameDefault: offsets in the file, as frames have them */
	uint64_t eval_start, eval_end;
	uint64_t code_delta; /* address minus offset of its code */
};

/* Of a module, looked for once; NULL when it holds no interpreter. It belongs to the module. */
const struct python_image *python_image_of(struct module *m);

#endif
