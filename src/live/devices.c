#include "live/scrape.h"

#include "base/clock.h"
#include "probe/gpu/gpu.h"
#include "probe/proc/energy.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_MS 1000
#define READING_AGE_NS 5000000000

struct device {
	struct gpu_reading reading;
	int64_t read_ns; /* 0: never */
};

struct live_devices {
	const struct gpu_source *source; /* NULL: no GPU source available */
	void *state;
	struct device devices[GPU_DEVICES_MAX];
	pthread_mutex_t lock; /* protects the devices */
	pthread_t thread;     /* reads a source that has a descriptor */
	bool has_thread;
	int ends[2]; /* closed: the thread ends */
	struct energy energy;
};

static void on_sample(void *arg, const struct gpu_reading *r)
{
	struct live_devices *d = arg;

	if (r->device >= GPU_DEVICES_MAX)
		return;
	pthread_mutex_lock(&d->lock);
	d->devices[r->device] = (struct device){ *r, clock_mono_ns() };
	pthread_mutex_unlock(&d->lock);
}

static void *read_lines(void *arg)
{
	struct live_devices *d = arg;
	struct pollfd p[] = { { .fd = d->source->fd(d->state), .events = POLLIN }, { .fd = d->ends[0] } };
	bool is_over = false;

	while (!is_over && poll(p, 2, -1) > 0)
		is_over = p[1].revents || !d->source->read(d->state, on_sample, d);
	return NULL;
}

static void open_gpus(struct live_devices *d)
{
	struct sonde_err why = SONDE_ERR_INIT;

	d->source = gpu_find(&d->state, INTERVAL_MS, &why);
	if (!d->source || !d->source->fd)
		return;
	d->has_thread = pipe2(d->ends, O_CLOEXEC) == 0 && pthread_create(&d->thread, NULL, read_lines, d) == 0;
}

struct live_devices *live_devices_open(const char *powercap)
{
	struct live_devices *d = calloc(1, sizeof(*d));
	struct sonde_err why = SONDE_ERR_INIT;

	if (!d)
		return NULL;
	pthread_mutex_init(&d->lock, NULL);
	d->ends[0] = d->ends[1] = -1;
	energy_open(&d->energy, powercap ? powercap : ENERGY_DIR, &why);
	open_gpus(d);
	return d;
}

void live_devices_free(struct live_devices *d)
{
	if (!d)
		return;
	if (d->ends[1] >= 0)
		close(d->ends[1]);
	if (d->has_thread)
		pthread_join(d->thread, NULL);
	if (d->ends[0] >= 0)
		close(d->ends[0]);
	if (d->source)
		d->source->free(d->state);
	energy_release(&d->energy);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static const struct {
	enum gpu_value value;
	const char *name, *help;
	double scale;
} rows[] = {
	{ GPU_util_percent, "sonde_gpu_busy_ratio", "Fraction of time the device was busy.", 0.01 },
	{ GPU_memory_util_percent, "sonde_gpu_memory_busy_ratio", "Fraction of time the device memory was accessed.",
			0.01 },
	{ GPU_memory_used_bytes, "sonde_gpu_memory_used_bytes", "Used device memory.", 1 },
	{ GPU_memory_total_bytes, "sonde_gpu_memory_size_bytes", "Device memory size.", 1 },
	{ GPU_power_watts, "sonde_gpu_power_watts", "Device power draw.", 1 },
	{ GPU_temperature_celsius, "sonde_gpu_temperature_celsius", "Device temperature.", 1 },
	{ GPU_encoder_percent, "sonde_gpu_encoder_busy_ratio", "Fraction of time the video encoder was busy.", 0.01 },
	{ GPU_decoder_percent, "sonde_gpu_decoder_busy_ratio", "Fraction of time the video decoder was busy.", 0.01 },
	{ GPU_sm_clock_hz, "sonde_gpu_clock_hertz", "Device clock frequency.", 1 },
};

static void show_row(const struct live_devices *d, struct exposition *x, size_t row, int64_t now_ns)
{
	bool has_family = false;

	for (unsigned i = 0; i < GPU_DEVICES_MAX; i++) {
		double value = d->devices[i].reading.values[rows[row].value];
		char number[16];

		if (!d->devices[i].read_ns || now_ns - d->devices[i].read_ns > READING_AGE_NS || !isfinite(value))
			continue;
		if (!has_family)
			exposition_family(x, rows[row].name, EXPOSITION_GAUGE, rows[row].help);
		has_family = true;
		snprintf(number, sizeof(number), "%u", i);
		exposition_sample(x, value * rows[row].scale, "gpu", number, NULL);
	}
}

/* "energy.package-0.core_joules" is the zone "package-0.core". */
static void show_energy(struct energy *e, struct exposition *x)
{
	bool has_family = false;

	energy_look(e);
	for (size_t i = 0; i < e->count; i++) {
		const char *name = strchr(e->zones[i].name, '.'), *end = name ? strrchr(name, '_') : NULL;
		char zone[sizeof(e->zones[i].name)];

		if (!e->zones[i].is_read || !end)
			continue;
		snprintf(zone, sizeof(zone), "%.*s", (int)(end - name - 1), name + 1);
		if (!has_family)
			exposition_family(x, "sonde_energy_joules", EXPOSITION_COUNTER,
					"Energy used, by RAPL zone, since the first scrape.");
		has_family = true;
		exposition_sample(x, e->zones[i].joules, "zone", zone, NULL);
	}
}

void live_devices_show(struct live_devices *d, struct exposition *x)
{
	if (d->source && !d->source->fd)
		d->source->read(d->state, on_sample, d);
	pthread_mutex_lock(&d->lock);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		show_row(d, x, i, clock_mono_ns());
	pthread_mutex_unlock(&d->lock);
	show_energy(&d->energy, x);
}
