/*
 * quantity: numbers with units.
 *
 * Fractions are computed in integers (whole part and billionths), so "0.1s" is exactly 100 000 000 ns and the decimal
 * point does not depend on the locale.
 */
#include "base/quantity.h"

#include <errno.h>
#include <string.h>

#define BILLION 1000000000

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "B", 1 },
	{ "K", UINT64_C(1) << 10 },
	{ "M", UINT64_C(1) << 20 },
	{ "G", UINT64_C(1) << 30 },
	{ "T", UINT64_C(1) << 40 },
	{ "k", UINT64_C(1) << 10 },
	{ "m", UINT64_C(1) << 20 },
	{ "g", UINT64_C(1) << 30 },
	{ "t", UINT64_C(1) << 40 },
	{ "KiB", UINT64_C(1) << 10 },
	{ "MiB", UINT64_C(1) << 20 },
	{ "GiB", UINT64_C(1) << 30 },
	{ "TiB", UINT64_C(1) << 40 },
	{ NULL, 0 },
};

static const struct unit duration_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "µs", 1000 },
	{ "ms", 1000000 },
	{ "s", BILLION },
	{ "m", 60 * UINT64_C(1000000000) },
	{ "min", 60 * UINT64_C(1000000000) },
	{ "h", 3600 * UINT64_C(1000000000) },
	{ "d", 86400 * UINT64_C(1000000000) },
	{ NULL, 0 },
};

static const struct unit plain_seconds[] = {
	{ "", BILLION },
	{ NULL, 0 },
};

static const struct unit *unit_find(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (strcmp(units->name, name) == 0)
			return units;
	return NULL;
}

/* Parses digits with at most one point. Returns the rest, or NULL if it is not a number or too long. */
static const char *decimal(const char *text, uint64_t *whole, uint64_t *billionths)
{
	uint64_t scale = BILLION;

	*whole = *billionths = 0;
	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(*whole, 10, whole) ||
				__builtin_add_overflow(*whole, (uint64_t)(*text - '0'), whole))
			return NULL;
	if (*text != '.')
		return text;
	for (text++; *text >= '0' && *text <= '9'; text++) {
		scale /= 10;
		*billionths += scale * (uint64_t)(*text - '0');
	}
	return text;
}

/* -EINVAL: not a number with one of the units; -ERANGE: does not fit int64_t. */
static int with_unit(const char *text, const struct unit *units, int64_t *value)
{
	uint64_t whole, billionths;
	const char *end = decimal(text, &whole, &billionths);
	const struct unit *unit;
	unsigned __int128 v;

	if (!end)
		return *text >= '0' && *text <= '9' ? -ERANGE : -EINVAL;
	unit = unit_find(units, end);
	if (!unit)
		return -EINVAL;
	v = (unsigned __int128)whole * unit->factor + (unsigned __int128)billionths * unit->factor / BILLION;
	if (v > INT64_MAX)
		return -ERANGE;
	*value = (int64_t)v;
	return 0;
}

static int refuse(int rc, const char *text, const char *what, const char *expected, struct sonde_err *err)
{
	if (rc == -ERANGE)
		return err_set(err, ERANGE, "'%s' is too large", text);
	return err_set(err, EINVAL, "invalid %s '%s': expected %s", what, text, expected);
}

int parse_size(const char *text, uint64_t *bytes, struct sonde_err *err)
{
	int64_t v = 0;
	int rc = with_unit(text, size_units, &v);

	if (rc)
		return refuse(rc, text, "size", "a number of bytes, or one with K, M, G or T (\"64M\")", err);
	*bytes = (uint64_t)v;
	return 0;
}

int parse_duration(const char *text, int64_t *ns, struct sonde_err *err)
{
	int rc = with_unit(text, duration_units, ns);

	if (rc == -EINVAL && strcmp(text, "0") == 0) {
		*ns = 0;
		return 0;
	}
	return rc ? refuse(rc, text, "duration", "a number with ns, us, ms, s, m, h or d (\"10s\")", err) : 0;
}

int parse_seconds(const char *text, int64_t *ns, struct sonde_err *err)
{
	int rc = with_unit(text, plain_seconds, ns);

	if (rc == -ERANGE)
		return refuse(rc, text, NULL, NULL, err);
	return rc ? parse_duration(text, ns, err) : 0;
}
