/* Python values as arguments of annotations. */
#include "ext.h"

#define TEXT_MAX 1024 /* characters; libsonde keeps fewer bytes, and marks what it cuts */

bool ext_forgive(void)
{
	if (!PyErr_ExceptionMatches(PyExc_Exception))
		return false;
	PyErr_Clear();
	return true;
}

PyObject *ext_utf8(PyObject *text)
{
	PyObject *bytes = PyUnicode_AsUTF8String(text);
	if (bytes || !PyErr_ExceptionMatches(PyExc_UnicodeError))
		return bytes;
	PyErr_Clear();
	return PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"); /* lone surrogates */
}

bool ext_real(PyObject *value, double *out)
{
	*out = Py_NAN;
	if (value == NULL || value == Py_None)
		return true;
	double real = PyFloat_AsDouble(value);
	if (real == -1.0 && PyErr_Occurred())
		return ext_forgive();
	*out = real;
	return true;
}

static void put(struct sonde_note *note, uint32_t key, uint32_t type, uint64_t bits, const char *text)
{
	struct sonde_site site = { .name = key };
	sonde_api_()->arg(note, &site, NULL, type, bits, text);
}

/* True when it was an integer that fits. */
static bool put_int(struct sonde_note *note, uint32_t key, PyObject *value)
{
	int overflow;
	long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
	if (!overflow) {
		put(note, key, SONDE_VALUE_INT, (uint64_t)number, NULL);
		return true;
	}
	unsigned long long large = PyLong_AsUnsignedLongLong(value);
	if (PyErr_Occurred()) {
		PyErr_Clear();
		return false;
	}
	put(note, key, SONDE_VALUE_UINT, large, NULL);
	return true;
}

static bool put_bytes(struct sonde_note *note, uint32_t key, PyObject *bytes)
{
	char *data;
	Py_ssize_t length;
	if (!bytes || PyBytes_AsStringAndSize(bytes, &data, &length))
		return false;
	put(note, key, SONDE_VALUE_STR, (uint64_t)length, data);
	return true;
}

static bool put_text(struct sonde_note *note, uint32_t key, PyObject *text)
{
	PyObject *part = text && PyUnicode_GetLength(text) > TEXT_MAX ? PyUnicode_Substring(text, 0, TEXT_MAX) : text;
	PyObject *bytes = part ? ext_utf8(part) : NULL;
	bool ok = put_bytes(note, key, bytes);
	Py_XDECREF(bytes);
	if (part != text)
		Py_XDECREF(part);
	return ok;
}

/* Whatever has a number in it, as numpy's scalars do; false when not, with or without an exception. */
static bool put_number(struct sonde_note *note, uint32_t key, PyObject *value)
{
	if (PyIndex_Check(value)) {
		PyObject *index = PyNumber_Index(value);
		bool ok = index && put_int(note, key, index);
		Py_XDECREF(index);
		return ok;
	}
	if (!PyNumber_Check(value))
		return false;
	double real = PyFloat_AsDouble(value);
	if (PyErr_Occurred())
		return false;
	put(note, key, SONDE_VALUE_REAL, sonde_real_bits_(real), NULL);
	return true;
}

static bool put_any(struct sonde_note *note, uint32_t key, PyObject *value)
{
	if (put_number(note, key, value))
		return true;
	if (PyErr_Occurred() && !ext_forgive())
		return false;
	PyObject *text = PyObject_Str(value);
	bool ok = put_text(note, key, text);
	Py_XDECREF(text);
	return ok;
}

static bool put_value(struct sonde_note *note, uint32_t key, PyObject *value)
{
	if (PyUnicode_Check(value))
		return put_text(note, key, value);
	if (PyFloat_Check(value)) {
		put(note, key, SONDE_VALUE_REAL, sonde_real_bits_(PyFloat_AsDouble(value)), NULL);
		return true;
	}
	if (PyBytes_Check(value))
		return put_bytes(note, key, value);
	return put_any(note, key, value);
}

bool ext_arg(struct sonde_note *note, PyObject *key, PyObject *value)
{
	uint32_t id = ext_name(key);
	return (id && put_value(note, id, value)) || ext_forgive();
}

bool ext_args(struct sonde_note *note, PyObject *args, const char *skip)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;
	while (args && PyDict_Next(args, &at, &key, &value))
		if (!(skip && !PyUnicode_CompareWithASCIIString(key, skip)) && !ext_arg(note, key, value))
			return false;
	return true;
}
