#include "probe/gpu/tegrastats.h"

#include "probe/gpu/gpu.h"

#include <math.h>
#include <string.h>

#define BLANKS " \t\r"
#define NO_SENSOR_CELSIUS (-256) /* reported by a zone without power */

/* A word of the line and the start of the next one. */
struct word {
	const char *at, *value;
	size_t n;
};

/* Parses a word and its value as one kind of reading. Returns the end of it, or NULL if it is of another kind. */
typedef const char *reader(const struct word *w, struct tegra_reading *r);

static bool is_word(const struct word *w, const char *text)
{
	return w->n == strlen(text) && memcmp(w->at, text, w->n) == 0;
}

static const char *behind_value(const struct word *w)
{
	return w->value + strcspn(w->value, BLANKS);
}

static void name_is(struct tegra_reading *r, const struct word *w, size_t bytes)
{
	r->name = w->at;
	r->name_bytes = bytes;
}

/* "CPU@41.5C" */
static const char *read_temperature(const struct word *w, struct tegra_reading *r)
{
	const char *at = memchr(w->at, '@', w->n);
	if (!at || w->at[w->n - 1] != 'C')
		return NULL;
	bool is_below = at[1] == '-';
	r->kind = TEGRA_TEMPERATURE;
	r->value = gpu_number(at + 1 + is_below, NULL) * (is_below ? -1 : 1);
	name_is(r, w, (size_t)(at - w->at));
	return r->value == NO_SENSOR_CELSIUS ? NULL : w->at + w->n;
}

/* "RAM 2448/3964MB" */
static const char *read_memory(const struct word *w, struct tegra_reading *r)
{
	const char *end;
	if (!is_word(w, "RAM") && !is_word(w, "SWAP"))
		return NULL;
	r->kind = w->n == 3 ? TEGRA_RAM : TEGRA_SWAP;
	r->value = gpu_number(w->value, &end) * GPU_MIB;
	if (*end == '/')
		r->other = gpu_number(end + 1, NULL) * GPU_MIB;
	return behind_value(w);
}

/* "CPU [12%@1190,off,3%@1190]" */
static const char *read_cpus(const struct word *w, struct tegra_reading *r)
{
	const char *at = w->value, *stop = at + strcspn(at, "]");
	double sum = 0;
	int n = 0;
	if (!is_word(w, "CPU") || *at != '[')
		return NULL;
	for (; at < stop; at += 1 + strcspn(at + 1, ",]")) {
		const char *end;
		double busy = gpu_number(at + 1, &end);
		if (*end != '%')
			continue;
		sum += busy;
		n++;
	}
	r->kind = TEGRA_CPUS;
	r->value = n ? sum / n : NAN;
	return *stop ? stop + 1 : stop;
}

/* "GR3D_FREQ 45%", "GR3D_FREQ 45%@76", "GR3D_FREQ 45%@[1109]" */
static const char *read_engine(const struct word *w, struct tegra_reading *r)
{
	static const char ending[] = "_FREQ";
	const size_t ending_bytes = sizeof(ending) - 1;
	const char *end;
	if (w->n <= ending_bytes || memcmp(w->at + w->n - ending_bytes, ending, ending_bytes) != 0)
		return NULL;
	r->kind = TEGRA_ENGINE;
	r->value = gpu_number(w->value, &end);
	if (*end != '%')
		return NULL;
	if (end[1] == '@')
		r->other = gpu_number(end + 2 + (end[2] == '['), NULL) * 1e6;
	name_is(r, w, w->n - ending_bytes);
	return behind_value(w);
}

/* "VDD_IN 2763mW/2846mW", "VDD_IN 6140/5510": current and average; "IRAM 0/252kB" does not match. */
static const char *read_power(const struct word *w, struct tegra_reading *r)
{
	const char *end;
	double now = gpu_number(w->value, &end);
	end += strncmp(end, "mW", 2) == 0 ? 2 : 0;
	if (*end != '/' || isnan(gpu_number(end + 1, &end)) || *end == 'M' || *end == 'k')
		return NULL;
	r->kind = TEGRA_POWER;
	r->value = now / 1000;
	name_is(r, w, w->n);
	return behind_value(w);
}

static const char *read_word(const struct word *w, struct tegra_reading *r)
{
	static reader *const readers[] = { read_temperature, read_memory, read_cpus, read_engine, read_power };
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++) {
		*r = (struct tegra_reading){ .name = "", .value = NAN, .other = NAN };
		const char *end = readers[i](w, r);
		if (end && !isnan(r->value))
			return end;
	}
	return NULL;
}

const char *tegra_next(const char *at, struct tegra_reading *r)
{
	for (at += strspn(at, BLANKS); *at; at += strspn(at, BLANKS)) {
		struct word w = { .at = at, .n = strcspn(at, BLANKS "[(") };
		w.value = at + w.n + strspn(at + w.n, BLANKS);
		const char *end = w.n ? read_word(&w, r) : NULL;
		if (end)
			return end;
		if (w.n) {
			at += w.n;
		} else { /* in parentheses or brackets */
			at += strcspn(at, *at == '[' ? "]" : ")");
			at += *at != '\0';
		}
	}
	return NULL;
}
