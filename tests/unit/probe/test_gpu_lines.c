/* Lines of nvidia-smi and tegrastats: what they say, and what they do not say is missing. */
#include "sinks.h"

#include "probe/gpu/gpu.h"

#include <math.h>
#include <stdio.h>

static void smi(void **state)
{
	struct gpu_reading r;
	assert_true(gpu_parse_smi("3, 42, 7, 1024, 15109, 70.12, 45, 1590", &r));
	assert_int_equal(r.device, 3);
	assert_true(r.values[GPU_util_percent] == 42);
	assert_true(r.values[GPU_memory_util_percent] == 7);
	assert_true(r.values[GPU_memory_used_bytes] == 1024 * 1048576.0);
	assert_true(r.values[GPU_memory_total_bytes] == 15109 * 1048576.0);
	assert_true(r.values[GPU_power_watts] == 70.12);
	assert_true(r.values[GPU_temperature_celsius] == 45);
	assert_true(r.values[GPU_sm_clock_hz] == 1.59e9);
	assert_true(isnan(r.values[GPU_encoder_percent]));
}

static void smi_without(void **state)
{
	struct gpu_reading r;
	assert_true(gpu_parse_smi("0, [N/A], 0, [Not Supported], 8", &r));
	assert_true(isnan(r.values[GPU_util_percent]));
	assert_true(r.values[GPU_memory_util_percent] == 0); /* told, so no less than any other value */
	assert_true(isnan(r.values[GPU_memory_used_bytes]));
	assert_true(isnan(r.values[GPU_power_watts]));
	static const char *const nothing[] = { "", "\n", "No devices were found", "0", "0 12", "64, 1, 1", "-1, 1",
		",,,", "0, [N/A], [N/A], [N/A], [N/A]", "index, utilization.gpu [%]" };
	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		if (gpu_parse_smi(nothing[i], &r))
			fail_msg("'%s' was taken for a device", nothing[i]);
}

static void tegra(void **state)
{
	struct gpu_reading r;
	assert_true(gpu_parse_tegra(
			"RAM 2448/3964MB (lfb 2x4MB) SWAP 0/1982MB (cached 0MB) CPU [5%@1224,off] EMC_FREQ 0% "
			"GR3D_FREQ 37%@76 PLL@33C CPU@36.5C GPU@35.5C VDD_GPU 1234/1200",
			&r));
	assert_int_equal(r.device, 0);
	assert_true(r.values[GPU_util_percent] == 37);
	assert_true(r.values[GPU_sm_clock_hz] == 76e6);
	assert_true(r.values[GPU_memory_used_bytes] == 2448 * 1048576.0);
	assert_true(r.values[GPU_temperature_celsius] == 35.5);
	assert_true(r.values[GPU_power_watts] == 1.234);
	assert_true(gpu_parse_tegra(
			"01-01-2024 10:00:00 RAM 1/2MB GR3D_FREQ 0%@[305] gpu@45.5C VDD_GPU_SOC 2000mW/2000mW", &r));
	assert_true(r.values[GPU_util_percent] == 0);
	assert_true(r.values[GPU_sm_clock_hz] == 305e6);
	assert_true(r.values[GPU_power_watts] == 2);
	assert_true(gpu_parse_tegra("GR3D_FREQ 5%", &r));
	assert_true(isnan(r.values[GPU_power_watts]) && isnan(r.values[GPU_memory_used_bytes]));
	assert_false(gpu_parse_tegra("RAM 1/2MB CPU [1%@2]", &r)); /* says nothing of a device */
	assert_false(gpu_parse_tegra("XGR3D_FREQ 5%", &r));
}

/* Every reading of a line as "KIND name value other", joined. */
static const char *tell_tegra(const char *line)
{
	static const char *const kinds[] = { "ram", "swap", "cpus", "engine", "temperature", "power" };
	static char text[512];
	struct tegra_reading r;
	size_t n = 0;
	text[0] = '\0';
	for (const char *at = line; (at = tegra_next(at, &r)) && n < sizeof(text);)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s '%.*s' %g %g", n ? ", " : "", kinds[r.kind],
				(int)r.name_bytes, r.name, r.value, r.other);
	return text;
}

static void tegra_readings(void **state)
{
	assert_string_equal(tell_tegra("05-14-2026 12:00:01 RAM 1/2MB (lfb 4x4MB) SWAP 3/4MB (cached 0MB) "
				       "CPU [12%@1190,off,4%@1190] EMC_FREQ 0% GR3D_FREQ 45%@[1109] CPU@41.5C "
				       "VDD_IN 2763mW/2846mW"),
			"ram '' 1.04858e+06 2.09715e+06, swap '' 3.14573e+06 4.1943e+06, cpus '' 8 nan, "
			"engine 'EMC' 0 nan, engine 'GR3D' 45 1.109e+09, temperature 'CPU' 41.5 nan, "
			"power 'VDD_IN' 2.763 nan");
	/* A zone without power has no temperature; one in the cold has. */
	assert_string_equal(tell_tegra("CV0@-256C AO@-4.5C"), "temperature 'AO' -4.5 nan");
	assert_string_equal(tell_tegra("IRAM 0/252kB(lfb 252kB) VIC_FREQ 729 APE 25 MTS fg 0% bg 0%"), "");
	static const char *const nothing[] = { "", " ", "(", "[", "RAM", "RAM x/2MB", "CPU [", "CPU [off,off]", "@C",
		"GR3D_FREQ", "GR3D_FREQ @[", "VDD_IN 5/", "VDD_IN /5", "what a board says while it starts" };
	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		assert_string_equal(tell_tegra(nothing[i]), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smi),
		cmocka_unit_test(smi_without),
		cmocka_unit_test(tegra),
		cmocka_unit_test(tegra_readings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
