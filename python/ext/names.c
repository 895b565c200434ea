/* Names of Python strings: looked up once each, remembered in a dictionary. */
#include "ext.h"

#define NAMES_MAX 16384 /* then the dictionary starts anew: names made on the fly must not fill the memory */

static PyObject *names; /* str -> int */

bool ext_names_init(void)
{
	names = PyDict_New();
	return names != NULL;
}

static uint32_t intern(PyObject *text)
{
	PyObject *bytes = ext_utf8(text);
	char *data;
	Py_ssize_t length;
	uint32_t id = 0;
	if (bytes && !PyBytes_AsStringAndSize(bytes, &data, &length))
		id = sonde_api_()->intern(data, (size_t)length);
	Py_XDECREF(bytes);
	return id;
}

static uint32_t remember(PyObject *text)
{
	uint32_t id = intern(text);
	PyObject *number = id ? PyLong_FromUnsignedLong(id) : NULL;
	if (PyDict_Size(names) >= NAMES_MAX)
		PyDict_Clear(names);
	if (number && PyDict_SetItem(names, text, number))
		id = 0;
	Py_XDECREF(number);
	return id;
}

uint32_t ext_name(PyObject *name)
{
	if (!PyUnicode_Check(name)) {
		PyObject *text = PyObject_Str(name);
		uint32_t id = text ? remember(text) : 0;
		Py_XDECREF(text);
		return id;
	}
	PyObject *known = PyDict_GetItemWithError(names, name);
	if (known)
		return (uint32_t)PyLong_AsUnsignedLong(known);
	return PyErr_Occurred() ? 0 : remember(name);
}
