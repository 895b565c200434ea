/* The module sonde._sonde: what is not a span. */
#include "ext.h"

static PyObject *none_or_error(bool ok)
{
	if (!ok)
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *is_on(PyObject *module, PyObject *unused)
{
	(void)module, (void)unused;
	return PyBool_FromLong(sonde_is_on());
}

/* A name as a site that has it already. */
static bool site_of(struct sonde_site *site, PyObject *name, PyObject *category)
{
	*site = (struct sonde_site){ .name = ext_name(name) };
	if (site->name && category && category != Py_None)
		site->category = ext_name(category);
	return !PyErr_Occurred();
}

static PyObject *instant(PyObject *module, PyObject *args, PyObject *kwargs)
{
	PyObject *name, *category = NULL;
	const char *skip = NULL;
	struct sonde_site site;
	struct ext_note n;
	(void)module;
	if (!PyArg_ParseTuple(args, "O|O:instant", &name, &category))
		return NULL;
	if (!sonde_is_on())
		Py_RETURN_NONE;
	if (!category && kwargs && (category = PyDict_GetItemString(kwargs, "cat")))
		skip = "cat";
	if (!site_of(&site, name, category))
		return none_or_error(ext_forgive());
	sonde_note_init_(&n.note, EXT_ROOM_BYTES);
	sonde_api_()->instant_begin(&n.note, &site, NULL, NULL);
	if (!n.note.ticks)
		Py_RETURN_NONE;
	bool ok = ext_args(&n.note, kwargs, skip);
	sonde_api_()->instant_end(&n.note);
	return none_or_error(ok);
}

/* Name and number: counters and metrics. */
static bool number_args(PyObject *args, PyObject *kwargs, const char *format, struct sonde_site *site, double *value,
		bool *ok)
{
	static char *words[] = { "name", "value", NULL };
	PyObject *name, *number = NULL;
	*ok = PyArg_ParseTupleAndKeywords(args, kwargs, format, words, &name, &number);
	if (!*ok || !sonde_is_on())
		return false;
	*value = 1;
	*ok = (site_of(site, name, NULL) || ext_forgive()) && (!number || ext_real(number, value));
	return *ok && site->name;
}

static PyObject *counter(PyObject *module, PyObject *args, PyObject *kwargs)
{
	struct sonde_site site;
	double value;
	bool ok;
	(void)module;
	if (number_args(args, kwargs, "OO:counter", &site, &value, &ok))
		sonde_api_()->counter(&site, NULL, value);
	return none_or_error(ok);
}

static PyObject *metric(PyObject *args, PyObject *kwargs, const char *format, uint32_t update)
{
	struct sonde_site site;
	double value;
	bool ok;
	if (number_args(args, kwargs, format, &site, &value, &ok))
		sonde_api_()->metric(&site, NULL, update, value);
	return none_or_error(ok);
}

static PyObject *metric_add(PyObject *module, PyObject *args, PyObject *kwargs)
{
	(void)module;
	return metric(args, kwargs, "O|O:metric_add", SONDE_UPDATE_ADD);
}

static PyObject *metric_set(PyObject *module, PyObject *args, PyObject *kwargs)
{
	(void)module;
	return metric(args, kwargs, "OO:metric_set", SONDE_UPDATE_SET);
}

static PyObject *metric_observe(PyObject *module, PyObject *args, PyObject *kwargs)
{
	(void)module;
	return metric(args, kwargs, "OO:metric_observe", SONDE_UPDATE_OBSERVE);
}

static PyObject *rate(PyObject *module, PyObject *args, PyObject *kwargs)
{
	(void)module;
	return metric(args, kwargs, "O|O:rate", SONDE_UPDATE_RATE);
}

/* Any integer, clamped; false when it is none, with or without an exception. */
static bool index_of(PyObject *value, long long *out)
{
	int overflow = 0;
	PyObject *index = PyNumber_Index(value);
	*out = index ? PyLong_AsLongLongAndOverflow(index, &overflow) : 0;
	if (overflow)
		*out = overflow > 0 ? INT64_MAX : INT64_MIN;
	Py_XDECREF(index);
	return !PyErr_Occurred();
}

static PyObject *step(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "name", "index", "value", NULL };
	PyObject *name, *index, *value = NULL;
	struct sonde_site site;
	long long number;
	double real;
	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O:step", words, &name, &index, &value))
		return NULL;
	if (!sonde_is_on())
		Py_RETURN_NONE;
	if (!site_of(&site, name, NULL) || !index_of(index, &number))
		return none_or_error(ext_forgive());
	if (!ext_real(value, &real))
		return NULL;
	sonde_api_()->step(&site, NULL, number, real);
	Py_RETURN_NONE;
}

static PyObject *meta(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "key", "value", NULL };
	PyObject *key, *value;
	struct sonde_site site;
	char *data;
	Py_ssize_t length;
	(void)module;
	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:meta", words, &key, &value))
		return NULL;
	if (!sonde_is_on())
		Py_RETURN_NONE;
	PyObject *text = site_of(&site, key, NULL) ? PyObject_Str(value) : NULL, *bytes = text ? ext_utf8(text) : NULL;
	bool ok = bytes && !PyBytes_AsStringAndSize(bytes, &data, &length);
	if (ok)
		sonde_api_()->meta(&site, NULL, data, (size_t)length);
	Py_XDECREF(bytes);
	Py_XDECREF(text);
	return none_or_error(ok || ext_forgive());
}

/* A knob's value is asked for as the kind of number that its default is; choices are handled in Python. */
static PyObject *knob_int(PyObject *module, PyObject *args)
{
	PyObject *name;
	long long fallback, low, high;
	struct sonde_site site;
	(void)module;
	if (!PyArg_ParseTuple(args, "OLLL:knob_int", &name, &fallback, &low, &high))
		return NULL;
	if (sonde_is_on() && site_of(&site, name, NULL))
		fallback = sonde_knob_int_(&site, NULL, fallback, low, high);
	return PyErr_Occurred() && !ext_forgive() ? NULL : PyLong_FromLongLong(fallback);
}

static PyObject *knob_real(PyObject *module, PyObject *args)
{
	PyObject *name;
	double fallback, low, high;
	struct sonde_site site;
	(void)module;
	if (!PyArg_ParseTuple(args, "Oddd:knob_real", &name, &fallback, &low, &high))
		return NULL;
	if (sonde_is_on() && site_of(&site, name, NULL))
		fallback = sonde_knob_real_(&site, NULL, fallback, low, high);
	return PyErr_Occurred() && !ext_forgive() ? NULL : PyFloat_FromDouble(fallback);
}

static PyObject *knob_choice(PyObject *module, PyObject *args)
{
	PyObject *name;
	long long fallback;
	const char *choices;
	struct sonde_site site;
	(void)module;
	if (!PyArg_ParseTuple(args, "OLs:knob_choice", &name, &fallback, &choices))
		return NULL;
	if (sonde_is_on() && site_of(&site, name, NULL))
		fallback = sonde_knob_choice_(&site, NULL, fallback, choices);
	return PyErr_Occurred() && !ext_forgive() ? NULL : PyLong_FromLongLong(fallback);
}

/* Functions with keyword arguments have another type than the table's. */
#define WITH_KEYWORDS(function) ((PyCFunction)(void (*)(void))(function)), METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
	{ "is_on", is_on, METH_NOARGS, "is_on(): is anything recording annotations?" },
	{ "instant", WITH_KEYWORDS(instant), "instant(name, cat=None, **args): a moment." },
	{ "counter", WITH_KEYWORDS(counter), "counter(name, value): a quantity that changes over time." },
	{ "step", WITH_KEYWORDS(step), "step(name, index, value=None): iteration `index` of the loop `name` is done." },
	{ "meta", WITH_KEYWORDS(meta), "meta(key, value): a fact about this process." },
	{ "metric_add", WITH_KEYWORDS(metric_add), "metric_add(name, value=1): count." },
	{ "metric_set", WITH_KEYWORDS(metric_set), "metric_set(name, value): what is so now." },
	{ "metric_observe", WITH_KEYWORDS(metric_observe),
			"metric_observe(name, value): one of many, for a histogram." },
	{ "rate", WITH_KEYWORDS(rate), "rate(name, value=1): so many more happened; watched as how many a second." },
	{ "knob_int", knob_int, METH_VARARGS, NULL },
	{ "knob_real", knob_real, METH_VARARGS, NULL },
	{ "knob_choice", knob_choice, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_sonde",
	.m_doc = "The C half of the package sonde.",
	.m_size = -1,
	.m_methods = functions,
};

PyMODINIT_FUNC PyInit__sonde(void);

PyMODINIT_FUNC PyInit__sonde(void)
{
	sonde_find_();
	if (!ext_names_init() || !ext_span_init())
		return NULL;
	PyObject *module = PyModule_Create(&definition);
	if (!module)
		return NULL;
	Py_INCREF(ext_span_type);
	if (PyModule_AddObject(module, "span", ext_span_type)) {
		Py_DECREF(ext_span_type);
		Py_CLEAR(module);
	}
	return module;
}
