/*
 * sonde.span: a context manager and decorator.
 *
 * Spans of Python may end in any order (generators, tasks of an event loop), so they
 * are loose. The arguments lie in a block of their own, which most spans do not need.
 * Without libsonde there is one span, shared by all, that does nothing.
 */
#include "ext.h"

struct span {
	PyObject_HEAD struct sonde_site site;
	struct sonde_note *note; /* &small, or &large->note once there are arguments */
	struct sonde_note small;
	struct ext_note *large;
	unsigned entered; /* how many times more than left */
};

PyObject *ext_span_type;
static struct span *nothing;

static struct span *span_alloc(PyTypeObject *type)
{
	struct span *s = (struct span *)PyType_GenericAlloc(type, 0);
	if (s)
		s->note = &s->small;
	return s;
}

static bool span_make_room(struct span *s)
{
	if (s->large)
		return true;
	s->large = PyMem_Malloc(sizeof(*s->large));
	if (!s->large)
		return false;
	s->large->note = s->small;
	s->large->note.arg_bytes_max = EXT_ROOM_BYTES;
	s->note = &s->large->note;
	return true;
}

static bool span_add(struct span *s, PyObject *args, const char *skip)
{
	if (!args || !PyDict_Size(args) || s == nothing || !sonde_is_on())
		return true;
	return !span_make_room(s) || ext_args(s->note, args, skip);
}

/* The package's Python half: a function that runs inside a span. */
static PyObject *decorate(PyObject *span, PyObject *function)
{
	PyObject *module = PyImport_ImportModule("sonde._wrap");
	PyObject *result = module ? PyObject_CallMethod(module, "decorate", "OO", span, function) : NULL;
	Py_XDECREF(module);
	return result;
}

/* The second positional argument, or the keyword. */
static PyObject *category_of(PyObject *args, PyObject *kwargs, const char **skip)
{
	*skip = NULL;
	if (PyTuple_Size(args) > 1)
		return PyTuple_GetItem(args, 1);
	PyObject *category = kwargs ? PyDict_GetItemString(kwargs, "cat") : NULL;
	if (category)
		*skip = "cat";
	return category;
}

static bool span_name(struct span *s, PyObject *name, PyObject *category)
{
	s->site.name = ext_name(name);
	if (category && category != Py_None && s->site.name)
		s->site.category = ext_name(category);
	return !PyErr_Occurred() || ext_forgive();
}

/* @sonde.span without parentheses: named after the function. */
static PyObject *span_of_function(PyTypeObject *type, PyObject *function)
{
	PyObject *name = PyObject_GetAttrString(function, "__qualname__");
	PyObject *span = name ? PyObject_CallFunctionObjArgs((PyObject *)type, name, NULL) : NULL;
	PyObject *result = span ? decorate(span, function) : NULL;
	Py_XDECREF(span);
	Py_XDECREF(name);
	return result;
}

static PyObject *span_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	const char *skip;
	Py_ssize_t count = PyTuple_Size(args);
	if (count < 1 || count > 2) {
		PyErr_SetString(PyExc_TypeError, "span() takes a name, an optional category, and keyword arguments");
		return NULL;
	}
	PyObject *name = PyTuple_GetItem(args, 0);
	bool is_function = !PyUnicode_Check(name) && count == 1 && !kwargs && PyCallable_Check(name);
	if (!sonde_api_()) {
		PyObject *result = is_function ? name : (PyObject *)nothing;
		Py_INCREF(result);
		return result;
	}
	if (is_function)
		return span_of_function(type, name);
	PyObject *category = category_of(args, kwargs, &skip);
	struct span *s = span_alloc(type);
	if (s && !(span_name(s, name, category) && span_add(s, kwargs, skip)))
		Py_CLEAR(s);
	return (PyObject *)s;
}

static void span_dealloc(PyObject *self)
{
	struct span *s = (struct span *)self;
	PyTypeObject *type = Py_TYPE(self);
	sonde_note_end_(s->note);
	PyMem_Free(s->large);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyObject *span_enter(PyObject *self, PyObject *unused)
{
	struct span *s = (struct span *)self;
	(void)unused;
	if (s != nothing && s->entered++ == 0 && sonde_is_on() && s->site.name)
		sonde_api_()->span_begin_loose(s->note, &s->site);
	Py_INCREF(self);
	return self;
}

static PyObject *span_exit(PyObject *self, PyObject *args)
{
	struct span *s = (struct span *)self;
	(void)args;
	if (s->entered && --s->entered == 0)
		sonde_note_end_(s->note);
	Py_RETURN_NONE;
}

static PyObject *span_arg(PyObject *self, PyObject *args)
{
	struct span *s = (struct span *)self;
	PyObject *key, *value;
	if (!PyArg_ParseTuple(args, "OO:arg", &key, &value))
		return NULL;
	if (s != nothing && sonde_is_on() && span_make_room(s) && !ext_arg(s->note, key, value))
		return NULL;
	Py_INCREF(self);
	return self;
}

static PyObject *span_update(PyObject *self, PyObject *args, PyObject *kwargs)
{
	if (PyTuple_Size(args)) {
		PyErr_SetString(PyExc_TypeError, "update() takes keyword arguments only");
		return NULL;
	}
	if (!span_add((struct span *)self, kwargs, NULL))
		return NULL;
	Py_INCREF(self);
	return self;
}

/* Another one with the same name and arguments: what a decorated function runs inside of. */
static PyObject *span_again(PyObject *self, PyObject *unused)
{
	struct span *from = (struct span *)self, *s = span_alloc(Py_TYPE(self));
	(void)unused;
	if (!s)
		return NULL;
	s->site = from->site;
	if (from->large && span_make_room(s)) {
		*s->large = *from->large;
		s->note->ticks = 0;
	}
	return (PyObject *)s;
}

static PyObject *span_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyObject *function;
	if (kwargs || !PyArg_ParseTuple(args, "O:span", &function))
		return kwargs ? PyErr_Format(PyExc_TypeError, "a span decorates one function") : NULL;
	if (self == (PyObject *)nothing) {
		Py_INCREF(function);
		return function;
	}
	return decorate(self, function);
}

/* Functions with keyword arguments have another type than the table's. */
#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
	{ "__enter__", span_enter, METH_NOARGS, "Begin." },
	{ "__exit__", span_exit, METH_VARARGS, "End." },
	{ "arg", span_arg, METH_VARARGS, "Add an argument; returns the span." },
	{ "update", WITH_KEYWORDS(span_update), METH_VARARGS | METH_KEYWORDS, "Add arguments; returns the span." },
	{ "_again", span_again, METH_NOARGS, "Another span with the same name and arguments." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, (void *)"span(name, cat=None, **args): a span of time, as a context manager or decorator." },
	{ Py_tp_new, (void *)span_new },
	{ Py_tp_dealloc, (void *)span_dealloc },
	{ Py_tp_call, (void *)span_call },
	{ Py_tp_methods, methods },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "sonde.span",
	.basicsize = sizeof(struct span),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};

bool ext_span_init(void)
{
	ext_span_type = PyType_FromSpec(&spec);
	if (ext_span_type)
		nothing = span_alloc((PyTypeObject *)ext_span_type);
	return nothing != NULL;
}
