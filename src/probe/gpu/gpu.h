/*
 * gpu: counters of GPU devices, from the first available source.
 *
 * A source is one file with one `const struct gpu_source`: NVML, nvidia-smi, tegrastats.
 * The first that opens is used. Values that a device does not have are left out: absent
 * is never zero.
 */
#ifndef SONDE_PROBE_GPU_GPU_H
#define SONDE_PROBE_GPU_GPU_H

#include "base/err.h"
#include "probe/proc/series.h"

#include <stdbool.h>
#include <stddef.h>

#define GPU_DEVICES_MAX 64
#define GPU_MIB 1048576.0

/* Counters: X(name, unit) */
#define GPU_VALUES(X) \
	X(util_percent, "percent") \
	X(memory_util_percent, "percent") \
	X(memory_used_bytes, "bytes") \
	X(memory_total_bytes, "bytes") \
	X(power_watts, "watts") \
	X(temperature_celsius, "celsius") \
	X(encoder_percent, "percent") \
	X(decoder_percent, "percent") \
	X(sm_clock_hz, "hertz")

#define GPU_VALUE(name, unit) GPU_##name,
enum gpu_value { GPU_VALUES(GPU_VALUE) GPU_VALUE_COUNT };

/* One reading of one device; NaN: not reported. */
struct gpu_reading {
	unsigned device;
	double values[GPU_VALUE_COUNT];
};

void gpu_reading_init(struct gpu_reading *r, unsigned device); /* all values NaN */
typedef void gpu_reading_fn(void *arg, const struct gpu_reading *r);

struct gpu_source {
	const char *name;
	/* Allocates *state. Returns -ENODEV with the reason if it is not available. */
	int (*open)(void **state, unsigned interval_ms, struct sonde_err *err);
	int (*fd)(void *state);                                     /* NULL, or readable when a read is due early */
	bool (*read)(void *state, gpu_reading_fn *take, void *arg); /* false: end of data */
	void (*free)(void *state);
};

/* Returns the first that opens; NULL with the reason of each if all fail. */
const struct gpu_source *gpu_find(void **state, unsigned interval_ms, struct sonde_err *err);

extern const struct gpu_source gpu_nvml, gpu_smi, gpu_tegra;

/* lines.c: parse one line of a command's output; false if it has no device values. The line is untrusted. */
bool gpu_parse_smi(const char *line, struct gpu_reading *r);
bool gpu_parse_tegra(const char *line, struct gpu_reading *r);

/* The fields that nvidia-smi prints, in the order that gpu_parse_smi reads. */
#define GPU_SMI_QUERY \
	"index,utilization.gpu,utilization.memory,memory.used,memory.total,power.draw,temperature.gpu,clocks.sm"

/*
 * tegrastats: parses a line of that tool, one reading at a time.
 *
 *	05-14-2026 12:00:01 RAM 2700/6850MB (lfb 4x4MB) SWAP 12/3425MB (cached 0MB) CPU [12%@1190,off,3%@1190]
 *	GR3D_FREQ 45%@[1109] CPU@41.5C VDD_IN 2763mW/2846mW
 *
 * The layout differs between boards, so positions are ignored: known words are parsed, all others are skipped.
 * The line is untrusted.
 */
enum tegra_kind {
	TEGRA_RAM,         /* bytes in use; other: total bytes */
	TEGRA_SWAP,        /* the same */
	TEGRA_CPUS,        /* mean utilization of the online CPUs, in percent */
	TEGRA_ENGINE,      /* utilization of "GR3D" in percent; other: its clock in hertz */
	TEGRA_TEMPERATURE, /* of a zone, in degrees Celsius */
	TEGRA_POWER,       /* of a rail, in watts */
	TEGRA_KIND_COUNT,
};

struct tegra_reading {
	enum tegra_kind kind;
	const char *name; /* of the engine, zone or rail: a substring of the line; empty if the kind is enough */
	size_t name_bytes;
	double value, other; /* NaN: not reported; value is always set */
};

/* Parses the next reading at or after `at`. Returns the position behind it; NULL at the end of the line. */
const char *tegra_next(const char *at, struct tegra_reading *r);

#endif
