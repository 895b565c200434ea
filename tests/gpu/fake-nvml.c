/* A stand-in for NVML with two devices: the first tells everything, the second has no power sensor, no encoder. */
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define NOT_SUPPORTED 3

struct utilization {
	unsigned gpu, memory;
};
struct memory {
	unsigned long long total, free, used;
};

static int devices[2];

static int number_of(void *device)
{
	return (int)((int *)device - devices);
}

EXPORT int nvmlInit_v2(void)
{
	return 0;
}
EXPORT int nvmlShutdown(void)
{
	return 0;
}
EXPORT int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = 2;
	return 0;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	*device = &devices[index];
	return 0;
}
EXPORT int nvmlDeviceGetUtilizationRates(void *device, struct utilization *u)
{
	u->gpu = number_of(device) ? 0 : 87;
	u->memory = 13;
	return 0;
}
EXPORT int nvmlDeviceGetMemoryInfo(void *device, struct memory *m)
{
	m->total = 16ull << 30;
	m->used = 3ull << 30;
	m->free = m->total - m->used;
	return 0;
}
EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	*milliwatts = 71500;
	return number_of(device) ? NOT_SUPPORTED : 0;
}
EXPORT int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
	*celsius = 45;
	return sensor;
}
EXPORT int nvmlDeviceGetEncoderUtilization(void *device, unsigned *percent, unsigned *period)
{
	*percent = 4;
	*period = 1000;
	return number_of(device) ? NOT_SUPPORTED : 0;
}
EXPORT int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz)
{
	*mhz = clock == 1 ? 1590 : 1;
	return 0;
}
