/* Lines of nvidia-smi and tegrastats; see gpu.h. */
#include "probe/gpu/gpu.h"

#include <math.h>
#include <string.h>

#define MIB 1048576.0

void gpu_reading_init(struct gpu_reading *r, unsigned device)
{
	r->device = device;
	for (size_t i = 0; i < GPU_VALUE_COUNT; i++)
		r->values[i] = NAN;
}

/* A decimal number at `at`, and what follows it; NaN when there is none, as "[N/A]" or "[Not Supported]". */
static double number(const char *at, const char **end)
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
	return has_digit ? digits / scale : NAN; /* both are whole: rounded once */
}

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* "0, 12, 3, 1024, 15109, 70.12, 45, 1590": GPU_SMI_QUERY without heading and units. */
bool gpu_parse_smi(const char *line, struct gpu_reading *r)
{
	static const struct {
		enum gpu_value value;
		double scale;
	} columns[] = { { GPU_util_percent, 1 }, { GPU_memory_util_percent, 1 }, { GPU_memory_used_bytes, MIB },
		{ GPU_memory_total_bytes, MIB }, { GPU_power_watts, 1 }, { GPU_temperature_celsius, 1 },
		{ GPU_sm_clock_hz, 1e6 } };
	const char *at;
	double index = number(skip_blanks(line), &at);
	bool has_value = false;
	if (isnan(index) || index >= GPU_DEVICES_MAX || *skip_blanks(at) != ',')
		return false;
	gpu_reading_init(r, (unsigned)index);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		at = strchr(at, ',');
		if (!at)
			break;
		double value = number(skip_blanks(++at), NULL);
		r->values[columns[i].value] = value * columns[i].scale;
		has_value |= !isnan(value);
	}
	return has_value;
}

/* Where a word of the line begins, after the word itself; NULL when it is not there. */
static const char *after(const char *line, const char *word)
{
	for (const char *at = line; (at = strstr(at, word)); at++)
		if (at == line || at[-1] == ' ')
			return at + strlen(word);
	return NULL;
}

static double number_after(const char *line, const char *word, const char **end)
{
	const char *at = after(line, word);
	return at ? number(skip_blanks(at), end) : NAN;
}

/*
 * "RAM 2448/3964MB (lfb 2x4MB) SWAP 0/1982MB CPU [5%@1224,off] EMC_FREQ 0% GR3D_FREQ 37%@76 GPU@35C VDD_GPU 1234/1200":
 * what is where differs from board to board, so words are looked for.
 */
bool gpu_parse_tegra(const char *line, struct gpu_reading *r)
{
	static const char *const rails[] = { "VDD_GPU_SOC ", "VDD_GPU ", "VDD_SYS_GPU ", "POM_5V_GPU " };
	const char *at = line;
	gpu_reading_init(r, 0);
	double util = number_after(line, "GR3D_FREQ ", &at);
	if (isnan(util))
		return false;
	r->values[GPU_util_percent] = util;
	if (at[0] == '%' && at[1] == '@')
		r->values[GPU_sm_clock_hz] = number(at + 2 + (at[2] == '['), NULL) * 1e6;
	double used = number_after(line, "RAM ", &at);
	if (!isnan(used) && *at == '/') {
		r->values[GPU_memory_used_bytes] = used * MIB;
		r->values[GPU_memory_total_bytes] = number(at + 1, NULL) * MIB;
	}
	r->values[GPU_temperature_celsius] = number_after(line, "GPU@", NULL);
	if (isnan(r->values[GPU_temperature_celsius]))
		r->values[GPU_temperature_celsius] = number_after(line, "gpu@", NULL);
	for (size_t i = 0; i < sizeof(rails) / sizeof(*rails) && isnan(r->values[GPU_power_watts]); i++)
		r->values[GPU_power_watts] = number_after(line, rails[i], NULL) / 1000;
	return true;
}
