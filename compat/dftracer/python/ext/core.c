/*
 * dftracer.python._core: the functions of dftracer/core.h for Python.
 *
 * Arguments of an event are a dictionary: name -> (role, int | float | str). Numbers
 * that do not fit 64 bits are written as text. Texts go over as UTF-8; lone surrogates
 * (file names) as the bytes they stand for.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "dftracer/core.h"

#include <errno.h>
#include <string.h>

#define ARGS_ON_STACK 16

/* Bytes of a str, in *owner's keeping; NULL with an exception. */
static const char *text_of(PyObject *value, PyObject **owner, Py_ssize_t *bytes)
{
	char *text = NULL;
	*owner = PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape");
	if (!*owner)
		PyErr_Clear(), *owner = PyUnicode_AsEncodedString(value, "utf-8", "backslashreplace");
	if (!*owner || PyBytes_AsStringAndSize(*owner, &text, bytes))
		return NULL;
	return text;
}

struct kept {
	struct dftracer_arg arg;
	PyObject *key, *text; /* what arg points into */
};

static int take_text(struct kept *k, PyObject *value)
{
	Py_ssize_t bytes;
	k->arg.type = DFTRACER_ARG_STRING;
	k->arg.value.text = text_of(value, &k->text, &bytes);
	k->arg.text_bytes = k->arg.value.text ? (size_t)bytes : 0;
	return k->arg.value.text ? 0 : -1;
}

static int take_int(struct kept *k, PyObject *value)
{
	int overflow;
	k->arg.type = DFTRACER_ARG_INT;
	k->arg.value.integer = PyLong_AsLongLongAndOverflow(value, &overflow);
	if (!overflow)
		return PyErr_Occurred() ? -1 : 0;
	PyObject *words = PyObject_Str(value);
	int rc = words ? take_text(k, words) : -1;
	Py_XDECREF(words);
	return rc;
}

static int take_value(struct kept *k, PyObject *value)
{
	if (PyLong_Check(value))
		return take_int(k, value);
	if (PyUnicode_Check(value))
		return take_text(k, value);
	k->arg.type = DFTRACER_ARG_FLOAT;
	k->arg.value.real = PyFloat_AsDouble(value);
	return PyErr_Occurred() ? -1 : 0;
}

static int take_arg(struct kept *k, PyObject *key, PyObject *pair)
{
	PyObject *value;
	Py_ssize_t bytes;
	int tag;
	memset(k, 0, sizeof(*k));
	if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "iO;an argument is (role, value)", &tag, &value))
		return PyErr_Occurred() ? -1 : (PyErr_SetString(PyExc_TypeError, "an argument is (role, value)"), -1);
	k->arg.tag = (uint32_t)tag;
	k->arg.key = text_of(key, &k->key, &bytes);
	return k->arg.key ? take_value(k, value) : -1;
}

static void release(struct kept *kept, Py_ssize_t count)
{
	for (Py_ssize_t i = 0; i < count; i++) {
		Py_XDECREF(kept[i].key);
		Py_XDECREF(kept[i].text);
	}
}

/* The arguments side by side, as log_event wants them. */
static void log_kept(const char *name, const char *cat, long long start, long long duration, const struct kept *kept,
		Py_ssize_t count, struct dftracer_arg *args)
{
	for (Py_ssize_t i = 0; i < count; i++)
		args[i] = kept[i].arg;
	dftracer_log_event(name, cat, start, duration, args, (size_t)count);
}

static int log_with(const char *name, const char *cat, long long start, long long duration, PyObject *dict)
{
	struct kept on_stack[ARGS_ON_STACK], *kept = on_stack;
	struct dftracer_arg args_on_stack[ARGS_ON_STACK], *args = args_on_stack;
	PyObject *key, *pair;
	Py_ssize_t at = 0, count = 0, size = PyDict_Size(dict);
	int rc = 0;
	if (size > ARGS_ON_STACK) {
		kept = PyMem_Calloc((size_t)size, sizeof(*kept));
		args = PyMem_Calloc((size_t)size, sizeof(*args));
	}
	if (!kept || !args)
		rc = (PyErr_NoMemory(), -1);
	while (!rc && count < size && PyDict_Next(dict, &at, &key, &pair))
		rc = take_arg(&kept[count++], key, pair);
	if (!rc)
		log_kept(name, cat, start, duration, kept, count, args);
	release(kept, count);
	if (kept != on_stack)
		PyMem_Free(kept);
	if (args != args_on_stack)
		PyMem_Free(args);
	return rc;
}

static PyObject *core_log_event(PyObject *self, PyObject *args)
{
	const char *name, *cat;
	long long start, duration;
	PyObject *dict;
	if (!PyArg_ParseTuple(args, "ssLLO!", &name, &cat, &start, &duration, &PyDict_Type, &dict))
		return NULL;
	if (!dftracer_is_on())
		Py_RETURN_NONE;
	if (!dftracer_wants_args() || !PyDict_Size(dict))
		dftracer_log_event(name, cat, start, duration, NULL, 0);
	else if (log_with(name, cat, start, duration, dict))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *core_initialize(PyObject *self, PyObject *args)
{
	const char *log_file, *data_dirs;
	int process_id;
	if (!PyArg_ParseTuple(args, "zzi", &log_file, &data_dirs, &process_id))
		return NULL;
	int rc = dftracer_initialize(log_file, data_dirs, process_id);
	if (rc >= 0)
		return PyBool_FromLong(rc == 0);
	errno = -rc;
	return PyErr_SetFromErrno(PyExc_OSError);
}

/* Writing the rest takes a while, and other threads may go on. */
static PyObject *core_finalize(PyObject *self, PyObject *unused)
{
	Py_BEGIN_ALLOW_THREADS
	dftracer_finalize();
	Py_END_ALLOW_THREADS
	Py_RETURN_NONE;
}

static PyObject *core_get_time(PyObject *self, PyObject *unused)
{
	return PyLong_FromLongLong(dftracer_get_time());
}

static PyObject *core_enter_event(PyObject *self, PyObject *unused)
{
	return PyLong_FromLongLong(dftracer_enter_event());
}

static PyObject *core_exit_event(PyObject *self, PyObject *unused)
{
	dftracer_exit_event();
	Py_RETURN_NONE;
}

static PyObject *core_log_metadata_event(PyObject *self, PyObject *args)
{
	const char *key, *value;
	if (!PyArg_ParseTuple(args, "ss", &key, &value))
		return NULL;
	dftracer_log_metadata_event(key, value);
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{ "initialize", core_initialize, METH_VARARGS, "initialize(log_file, data_dirs, process_id) -> is it on" },
	{ "finalize", core_finalize, METH_NOARGS, "Write everything and close the file." },
	{ "get_time", core_get_time, METH_NOARGS, "Microseconds." },
	{ "enter_event", core_enter_event, METH_NOARGS, "What is logged until exit_event is inside an event." },
	{ "exit_event", core_exit_event, METH_NOARGS, "The end of that event." },
	{ "log_event", core_log_event, METH_VARARGS, "log_event(name, cat, start, duration, {name: (role, value)})" },
	{ "log_metadata_event", core_log_metadata_event, METH_VARARGS, "log_metadata_event(key, value)" },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_core",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
	return PyModule_Create(&module);
}
