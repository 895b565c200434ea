#include "probe/gpu/gpu.h"

#include <math.h>
#include <string.h>

#define BLANKS " \t\r"
#define NO_SENSOR_CELSIUS (-256) /* reported by a zone without power */

/* Readings of tegrastats. */

/* A word of the line and the start of the next one. */
struct word {
	const char *at, *value;
	size_t n;
};

/* Parses a word and its value as one kind of reading. Returns the end of it, or NULL if it is of another kind. */
typedef const char *reader(const struct word *w, struct tegra_reading *r);

/* Parses a decimal number at `at` and sets `end`; NaN if it is not a number, as "[N/A]" or "[Not Supported]". */
static double gpu_number(const char *at, const char **end)
{
	const char *p = at;
	double digits = 0, scale = 1;
	bool has_digit = false;
	for (; *p >= '0' && *p <= '9' && p - at < 15; p++, has_digit = true)
		digits = digits * 10 + (*p - '0');
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && p - at < 15; p++, scale *= 10)
			digits = digits * 10 + (*p - '0');
	if (end)
		*end = has_digit ? p : at;
	return has_digit ? digits / scale : NAN; /* both are integers: rounded once */
}

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

/* Readings of devices. */

void gpu_reading_init(struct gpu_reading *r, unsigned device)
{
	r->device = device;
	for (size_t i = 0; i < GPU_VALUE_COUNT; i++)
		r->values[i] = NAN;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* "0, 12, 3, 1024, 15109, 70.12, 45, 1590": GPU_SMI_QUERY without heading and units. */
bool gpu_parse_smi(const char *line, struct gpu_reading *r)
{
	static const struct {
		enum gpu_value value;
		double scale;
	} columns[] = { { GPU_util_percent, 1 }, { GPU_memory_util_percent, 1 }, { GPU_memory_used_bytes, GPU_MIB },
		{ GPU_memory_total_bytes, GPU_MIB }, { GPU_power_watts, 1 }, { GPU_temperature_celsius, 1 },
		{ GPU_sm_clock_hz, 1e6 } };
	const char *at;
	double index = gpu_number(skip_blanks(line), &at);
	bool has_value = false;
	if (isnan(index) || index >= GPU_DEVICES_MAX || *skip_blanks(at) != ',')
		return false;
	gpu_reading_init(r, (unsigned)index);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		at = strchr(at, ',');
		if (!at)
			break;
		double value = gpu_number(skip_blanks(++at), NULL);
		r->values[columns[i].value] = value * columns[i].scale;
		has_value |= !isnan(value);
	}
	return has_value;
}

/* The readings of a board that belong to its GPU. Boards name them differently; the first match is used. */
static const struct tegra_value {
	enum tegra_kind kind;
	const char *name;
	enum gpu_value value, other; /* GPU_VALUE_COUNT: none */
} tegra_values[] = {
	{ TEGRA_RAM, "", GPU_memory_used_bytes, GPU_memory_total_bytes },
	{ TEGRA_ENGINE, "GR3D", GPU_util_percent, GPU_sm_clock_hz },
	{ TEGRA_TEMPERATURE, "GPU", GPU_temperature_celsius, GPU_VALUE_COUNT },
	{ TEGRA_TEMPERATURE, "gpu", GPU_temperature_celsius, GPU_VALUE_COUNT },
	{ TEGRA_POWER, "VDD_GPU_SOC", GPU_power_watts, GPU_VALUE_COUNT },
	{ TEGRA_POWER, "VDD_GPU", GPU_power_watts, GPU_VALUE_COUNT },
	{ TEGRA_POWER, "VDD_SYS_GPU", GPU_power_watts, GPU_VALUE_COUNT },
	{ TEGRA_POWER, "POM_5V_GPU", GPU_power_watts, GPU_VALUE_COUNT },
};

bool gpu_parse_tegra(const char *line, struct gpu_reading *r)
{
	struct tegra_reading told;
	gpu_reading_init(r, 0);
	for (const char *at = line; (at = tegra_next(at, &told));) {
		for (const struct tegra_value *v = tegra_values;
				v < tegra_values + sizeof(tegra_values) / sizeof(*tegra_values); v++) {
			if (v->kind != told.kind || strlen(v->name) != told.name_bytes ||
					strncmp(v->name, told.name, told.name_bytes) != 0 ||
					!isnan(r->values[v->value]))
				continue;
			r->values[v->value] = told.value;
			if (v->other != GPU_VALUE_COUNT)
				r->values[v->other] = told.other;
		}
	}
	return !isnan(r->values[GPU_util_percent]);
}
