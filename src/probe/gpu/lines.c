#include "probe/gpu/gpu.h"
#include "probe/gpu/tegrastats.h"

#include <math.h>
#include <string.h>

void gpu_reading_init(struct gpu_reading *r, unsigned device)
{
	r->device = device;
	for (size_t i = 0; i < GPU_VALUE_COUNT; i++)
		r->values[i] = NAN;
}

double gpu_number(const char *at, const char **end)
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

static void take_tegra(struct gpu_reading *r, const struct tegra_reading *told)
{
	for (const struct tegra_value *v = tegra_values;
			v < tegra_values + sizeof(tegra_values) / sizeof(*tegra_values); v++) {
		if (v->kind != told->kind || strlen(v->name) != told->name_bytes ||
				strncmp(v->name, told->name, told->name_bytes) != 0 || !isnan(r->values[v->value]))
			continue;
		r->values[v->value] = told->value;
		if (v->other != GPU_VALUE_COUNT)
			r->values[v->other] = told->other;
	}
}

bool gpu_parse_tegra(const char *line, struct gpu_reading *r)
{
	struct tegra_reading told;
	gpu_reading_init(r, 0);
	for (const char *at = line; (at = tegra_next(at, &told));)
		take_tegra(r, &told);
	return !isnan(r->values[GPU_util_percent]);
}
