/*
 * NVML, NVIDIA's library for device state, loaded with dlopen if present. The
 * declarations are our own: its ABI is versioned by function name.
 */
#include "probe/gpu/gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#define NVML_SUCCESS 0
#define NVML_TEMPERATURE_GPU 0
#define NVML_CLOCK_SM 1

struct nvml_utilization {
	unsigned gpu, memory; /* percent */
};

struct nvml_memory {
	unsigned long long total, free, used;
};

typedef void *nvml_device;

/* X(name, arguments), each returns NVML_SUCCESS or an error code. All devices have the first three. */
#define NVML_NEEDED(X) \
	X(nvmlInit_v2, (void)) \
	X(nvmlDeviceGetCount_v2, (unsigned *count)) \
	X(nvmlDeviceGetHandleByIndex_v2, (unsigned index, nvml_device *device))
#define NVML_OPTIONAL(X) \
	X(nvmlShutdown, (void)) \
	X(nvmlDeviceGetUtilizationRates, (nvml_device, struct nvml_utilization *)) \
	X(nvmlDeviceGetMemoryInfo, (nvml_device, struct nvml_memory *)) \
	X(nvmlDeviceGetPowerUsage, (nvml_device, unsigned *milliwatts)) \
	X(nvmlDeviceGetTemperature, (nvml_device, int sensor, unsigned *celsius)) \
	X(nvmlDeviceGetEncoderUtilization, (nvml_device, unsigned *percent, unsigned *period_us)) \
	X(nvmlDeviceGetDecoderUtilization, (nvml_device, unsigned *percent, unsigned *period_us)) \
	X(nvmlDeviceGetClockInfo, (nvml_device, int clock, unsigned *mhz))

struct nvml {
	void *library;
	bool has_begun;
#define DECLARE(name, arguments) int(*name) arguments;
	NVML_NEEDED(DECLARE)
	NVML_OPTIONAL(DECLARE)
	unsigned count;
	nvml_device devices[GPU_DEVICES_MAX];
};

static void nvml_free(void *state)
{
	struct nvml *n = state;
	if (n->has_begun && n->nvmlShutdown)
		n->nvmlShutdown();
	if (n->library)
		dlclose(n->library);
	free(n);
}

static bool find_functions(struct nvml *n)
{
	bool has_all = true;
#define FIND(name, arguments) *(void **)(void *)&n->name = dlsym(n->library, #name);
#define NEED(name, arguments) has_all &= (*(void **)(void *)&n->name = dlsym(n->library, #name)) != NULL;
	NVML_NEEDED(NEED)
	NVML_OPTIONAL(FIND)
	return has_all;
}

static int begin(struct nvml *n, struct sonde_err *err)
{
	n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!n->library)
		return err_set(err, ENODEV, "no NVML");
	if (!find_functions(n))
		return err_set(err, ENODEV, "an NVML that is too old");
	int status = n->nvmlInit_v2();
	n->has_begun = status == NVML_SUCCESS;
	if (!n->has_begun || n->nvmlDeviceGetCount_v2(&n->count) != NVML_SUCCESS || !n->count)
		return err_set(err, ENODEV, "NVML, but no device (status %d)", status);
	if (n->count > GPU_DEVICES_MAX)
		n->count = GPU_DEVICES_MAX;
	for (unsigned i = 0; i < n->count; i++)
		if (n->nvmlDeviceGetHandleByIndex_v2(i, &n->devices[i]) != NVML_SUCCESS)
			n->devices[i] = NULL; /* no permission */
	return 0;
}

static int nvml_open(void **state, unsigned interval_ms, struct sonde_err *err)
{
	struct nvml *n = calloc(1, sizeof(*n));
	(void)interval_ms;
	if (!n)
		return err_sys(err, ENOMEM, "cannot read counters of devices");
	int rc = begin(n, err);
	if (rc) {
		nvml_free(n);
		return rc;
	}
	*state = n;
	return 0;
}

static void read_device(struct nvml *n, nvml_device d, struct gpu_reading *r)
{
	struct nvml_utilization util;
	struct nvml_memory memory;
	unsigned value, period;
	if (n->nvmlDeviceGetUtilizationRates && !n->nvmlDeviceGetUtilizationRates(d, &util)) {
		r->values[GPU_util_percent] = util.gpu;
		r->values[GPU_memory_util_percent] = util.memory;
	}
	if (n->nvmlDeviceGetMemoryInfo && !n->nvmlDeviceGetMemoryInfo(d, &memory)) {
		r->values[GPU_memory_used_bytes] = (double)memory.used;
		r->values[GPU_memory_total_bytes] = (double)memory.total;
	}
	if (n->nvmlDeviceGetPowerUsage && !n->nvmlDeviceGetPowerUsage(d, &value))
		r->values[GPU_power_watts] = value / 1000.0;
	if (n->nvmlDeviceGetTemperature && !n->nvmlDeviceGetTemperature(d, NVML_TEMPERATURE_GPU, &value))
		r->values[GPU_temperature_celsius] = value;
	if (n->nvmlDeviceGetEncoderUtilization && !n->nvmlDeviceGetEncoderUtilization(d, &value, &period))
		r->values[GPU_encoder_percent] = value;
	if (n->nvmlDeviceGetDecoderUtilization && !n->nvmlDeviceGetDecoderUtilization(d, &value, &period))
		r->values[GPU_decoder_percent] = value;
	if (n->nvmlDeviceGetClockInfo && !n->nvmlDeviceGetClockInfo(d, NVML_CLOCK_SM, &value))
		r->values[GPU_sm_clock_hz] = value * 1e6;
}

static bool nvml_read(void *state, gpu_reading_fn *take, void *arg)
{
	struct nvml *n = state;
	for (unsigned i = 0; i < n->count; i++) {
		struct gpu_reading r;
		gpu_reading_init(&r, i);
		if (n->devices[i])
			read_device(n, n->devices[i], &r);
		take(arg, &r);
	}
	return true;
}

const struct gpu_source gpu_nvml = { .name = "nvml", .open = nvml_open, .read = nvml_read, .free = nvml_free };
