/*
 * The C half of the Python package `sonde`: sonde.h for Python values.
 *
 * Built once against the stable ABI of Python 3.8. An annotation must never make a
 * program fail: whatever a value does when it is converted (short of interrupting
 * the program) is swallowed, and the value is left out.
 */
#ifndef SONDE_PYTHON_EXT_H
#define SONDE_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include "sonde/sonde.h"

#include <stdbool.h>

#define EXT_ROOM_BYTES 2048

/* An annotation under way, with room for more arguments than in C. */
struct ext_note {
	struct sonde_note note;
	uint64_t room[EXT_ROOM_BYTES / 8];
};

extern PyObject *ext_span_type; /* sonde.span */

/* span.c: make sonde.span; false with an exception set. */
bool ext_span_init(void);

/* names.c: the number of a name (anything that str() takes); 0 with an exception set. Needs libsonde. */
uint32_t ext_name(PyObject *name);
bool ext_names_init(void);

/*
 * values.c: add an argument, or each of `args` (a dict or NULL) but for the key `skip`. False with an exception set
 * when the program is being interrupted; anything else that goes wrong only costs the argument.
 */
bool ext_arg(struct sonde_note *note, PyObject *key, PyObject *value);
bool ext_args(struct sonde_note *note, PyObject *args, const char *skip);

/* A number as a double, NaN for None and for what is none. False as above. */
bool ext_real(PyObject *value, double *out);

/* A string as bytes of UTF-8, valid whatever it holds; NULL with an exception set. */
PyObject *ext_utf8(PyObject *text);

/* After a failed conversion: true when it was an ordinary exception, which is forgotten. */
bool ext_forgive(void);

#endif
