/*
 * units: human-readable numbers, with three significant digits.
 */
#include "result/term.h"

struct unit {
	double above; /* smallest value that is written in this unit */
	double factor;
	const char *name;
};

/* Units from the largest down; the first one with `above` <= value is used. `above` is half of the last
 * digit below the unit, so that 999.96 k becomes 1.00 M, not 1000 k. */
static const struct unit byte_units[] = {
	{ 1023.5 * 1024 * 1024 * 1024, 1024.0 * 1024 * 1024 * 1024, " TiB" },
	{ 1023.5 * 1024 * 1024, 1024.0 * 1024 * 1024, " GiB" },
	{ 1023.5 * 1024, 1024.0 * 1024, " MiB" },
	{ 1024, 1024, " KiB" },
	{ 0, 1, " B" },
};

static const struct unit ns_units[] = {
	{ 999.5e6, 1e9, " s" },
	{ 999.5e3, 1e6, " ms" },
	{ 1000, 1e3, " us" },
	{ 0, 1, " ns" },
};

static const struct unit count_units[] = {
	{ 999.5e9, 1e12, " T" },
	{ 999.5e6, 1e9, " G" },
	{ 999.5e3, 1e6, " M" },
	{ 1000, 1e3, " k" },
	{ 0, 1, "" },
};

static char *in_units(char text[TERM_TEXT], double value, const struct unit *unit)
{
	double scaled;

	while (value < unit->above)
		unit++;
	scaled = value / unit->factor;
	snprintf(text, TERM_TEXT, "%.*f%s",
			unit->factor == 1 || scaled >= 99.95 ? 0
					: scaled >= 9.995    ? 1
							     : 2,
			scaled, unit->name);
	return text;
}

char *term_bytes(char text[TERM_TEXT], uint64_t bytes)
{
	return in_units(text, (double)bytes, byte_units);
}

char *term_count(char text[TERM_TEXT], uint64_t count)
{
	return in_units(text, (double)count, count_units);
}

#define MINUTE_S 60
#define HOUR_S 3600
#define DAY_S 86400

static char *long_duration(char text[TERM_TEXT], uint64_t s)
{
	if (s >= DAY_S)
		snprintf(text, TERM_TEXT, "%llu d %02d h", (unsigned long long)(s / DAY_S), (int)(s % DAY_S / HOUR_S));
	else if (s >= HOUR_S)
		snprintf(text, TERM_TEXT, "%d h %02d min", (int)(s / HOUR_S), (int)(s % HOUR_S / MINUTE_S));
	else
		snprintf(text, TERM_TEXT, "%d min %02d s", (int)(s / MINUTE_S), (int)(s % MINUTE_S));
	return text;
}

char *term_ns(char text[TERM_TEXT], int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char *start = text;

	if (ns < 0)
		*text++ = '-';
	if (size >= UINT64_C(100) * 1000000000)
		long_duration(text, size / 1000000000);
	else
		in_units(text, (double)size, ns_units);
	return start;
}
