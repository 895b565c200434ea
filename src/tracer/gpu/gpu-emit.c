#include "tracer/gpu/gpu-layer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

static const struct sonde_gpu_api *api;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void)
{
	const struct sonde_gpu_api *found = dlsym(RTLD_DEFAULT, "sonde_gpu_api");
	if (found && found->version == SONDE_GPU_API_VERSION && found->bytes >= sizeof(*found))
		api = found;
}

bool gpu_is_on(void)
{
	pthread_once(&once, find);
	return api && (__atomic_load_n(api->categories, __ATOMIC_RELAXED) & SONDE_CAT_GPU);
}

void gpu_emit(const struct sonde_gpu_command *c)
{
	if (gpu_is_on())
		api->command(c);
}

void gpu_drop(void)
{
	if (gpu_is_on())
		api->drop();
}

int64_t gpu_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool gpu_clock_is_stale(const struct gpu_clock *k, int64_t now_ns)
{
	return !k->is_known || now_ns - k->at_ns > GPU_CLOCK_FRESH_NS;
}

void gpu_clock_bracket(struct gpu_clock *k, int64_t device_ns, int64_t before_ns, int64_t after_ns)
{
	int64_t low = before_ns - device_ns, high = after_ns - device_ns;
	bool is_disjoint = k->is_known && (low > k->high || high < k->low);
	if (high < low)
		return;
	if (gpu_clock_is_stale(k, after_ns) || is_disjoint || high - low < k->high - k->low)
		*k = (struct gpu_clock){ .is_known = true, .low = low, .high = high, .at_ns = after_ns };
}

int64_t gpu_clock_ns(const struct gpu_clock *k, uint64_t device_ns)
{
	if (!k->is_known || !device_ns || device_ns > INT64_MAX)
		return SONDE_NONE;
	return (int64_t)device_ns + k->low + (k->high - k->low) / 2;
}

int64_t gpu_clock_error_ns(const struct gpu_clock *k)
{
	return k->is_known ? (k->high - k->low + 1) / 2 : SONDE_NONE;
}
