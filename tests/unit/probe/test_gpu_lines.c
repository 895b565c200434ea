/* Lines of nvidia-smi and tegrastats: what they say, and what they do not say is missing. */
#include "sinks.h"

#include "probe/gpu/gpu.h"

#include <math.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smi),
		cmocka_unit_test(smi_without),
		cmocka_unit_test(tegra),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
