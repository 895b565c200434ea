/*
 * dftracer.python._core: the functions of dftracer/core.h for Python.
 *
 * Arguments of an event are a dictionary: name -> (role, int | float | str), or bytes that are JSON. Numbers that do
 * not fit 64 bits are written as text. Texts are passed as UTF-8; lone surrogates (file names) as the bytes they
 * represent.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include "dftracer/core.h"
#include "dftracer/dftracer.h"

#include <errno.h>
#include <string.h>

#define ARGS_ON_STACK 16

/* The bytes of a str, owned by *owner; NULL with an exception. */
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

/* For PyArg_ParseTuple's "O&": a str as bytes, with any content. */
struct word {
	PyObject *owner;
	const char *text;
};

static int take_word(PyObject *value, void *to)
{
	struct word *w = to;
	Py_ssize_t bytes;
	if (!value) { /* a later argument was invalid */
		Py_CLEAR(w->owner);
		return 1;
	}
	if (!PyUnicode_Check(value)) {
		PyErr_SetString(PyExc_TypeError, "a str is wanted");
		return 0;
	}
	w->text = text_of(value, &w->owner, &bytes);
	return w->text ? Py_CLEANUP_SUPPORTED : 0;
}

struct kept {
	struct dftracer_arg arg;
	PyObject *key, *text; /* owners of the data of arg */
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

static int take_json(struct kept *k, PyObject *value)
{
	char *text;
	Py_ssize_t bytes;
	if (PyBytes_AsStringAndSize(value, &text, &bytes))
		return -1;
	k->arg.type = DFTRACER_ARG_JSON;
	k->arg.value.text = text;
	k->arg.text_bytes = (size_t)bytes;
	k->text = Py_NewRef(value);
	return 0;
}

static int take_value(struct kept *k, PyObject *value)
{
	if (PyBytes_Check(value))
		return take_json(k, value);
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

/* Copy the arguments to the array that log_event expects. */
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
	struct word name = { 0 }, cat = { 0 };
	long long start, duration;
	PyObject *dict;
	int rc = 0;
	if (!PyArg_ParseTuple(args, "O&O&LLO!", take_word, &name, take_word, &cat, &start, &duration, &PyDict_Type,
			    &dict))
		return NULL;
	if (dftracer_is_on() && (!dftracer_wants_args() || !PyDict_Size(dict)))
		dftracer_log_event(name.text, cat.text, start, duration, NULL, 0);
	else if (dftracer_is_on())
		rc = log_with(name.text, cat.text, start, duration, dict);
	Py_DECREF(name.owner);
	Py_DECREF(cat.owner);
	return rc ? NULL : Py_NewRef(Py_None);
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

/* Release the GIL: writing the rest takes a while. */
static PyObject *core_finalize(PyObject *self, PyObject *unused)
{
	Py_BEGIN_ALLOW_THREADS dftracer_finalize();
	Py_END_ALLOW_THREADS Py_RETURN_NONE;
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
	struct word key = { 0 }, value = { 0 };
	if (!PyArg_ParseTuple(args, "O&O&", take_word, &key, take_word, &value))
		return NULL;
	dftracer_log_metadata_event(key.text, value.text);
	Py_DECREF(key.owner);
	Py_DECREF(value.owner);
	Py_RETURN_NONE;
}

/* Entities, and metadata of the program. */

static PyObject *core_declare_entity(PyObject *self, PyObject *args)
{
	struct word type = { 0 }, key = { 0 }, uri = { 0 };
	int store;
	if (!PyArg_ParseTuple(args, "O&O&iO&", take_word, &type, take_word, &key, &store, take_word, &uri))
		return NULL;
	EntityID id = dftracer_declare_entity(type.text, key.text, (EntityStore)store, *uri.text ? uri.text : NULL);
	Py_DECREF(type.owner);
	Py_DECREF(key.owner);
	Py_DECREF(uri.owner);
	return PyLong_FromUnsignedLongLong(id);
}

static PyObject *core_declare_entity_type(PyObject *self, PyObject *args)
{
	const char *type, *description;
	int role;
	if (!PyArg_ParseTuple(args, "sis", &type, &role, &description))
		return NULL;
	dftracer_declare_entity_type(type, (EntityRole)role, description);
	Py_RETURN_NONE;
}

static PyObject *core_relate_entities(PyObject *self, PyObject *args)
{
	unsigned long long subject, object;
	int relation;
	if (!PyArg_ParseTuple(args, "iKK", &relation, &subject, &object))
		return NULL;
	dftracer_relate_entities((EntityRelation)relation, subject, object);
	Py_RETURN_NONE;
}

static PyObject *core_set_app_metadata(PyObject *self, PyObject *args)
{
	const char *key, *text = NULL;
	int number = 0;
	if (PyArg_ParseTuple(args, "si", &key, &number)) {
		set_app_metadata_int(key, number);
		Py_RETURN_NONE;
	}
	PyErr_Clear();
	if (!PyArg_ParseTuple(args, "ss", &key, &text))
		return NULL;
	set_app_metadata_string(key, text);
	Py_RETURN_NONE;
}

static PyObject *core_mark_used(PyObject *self, PyObject *args)
{
	const char *name;
	if (!PyArg_ParseTuple(args, "s", &name))
		return NULL;
	mark_used(name);
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
	{ "declare_entity", core_declare_entity, METH_VARARGS, "declare_entity(type, key, store, uri) -> id" },
	{ "declare_entity_type", core_declare_entity_type, METH_VARARGS, "declare_entity_type(type, role, text)" },
	{ "relate_entities", core_relate_entities, METH_VARARGS, "relate_entities(relation, subject, object)" },
	{ "set_app_metadata", core_set_app_metadata, METH_VARARGS, "set_app_metadata(key, int or str)" },
	{ "mark_used", core_mark_used, METH_VARARGS, "mark_used(name)" },
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
