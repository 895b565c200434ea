/*
 * tegrastats: parses a line of that tool, one reading at a time.
 *
 *	05-14-2026 12:00:01 RAM 2700/6850MB (lfb 4x4MB) SWAP 12/3425MB (cached 0MB) CPU [12%@1190,off,3%@1190]
 *	GR3D_FREQ 45%@[1109] CPU@41.5C VDD_IN 2763mW/2846mW
 *
 * The layout differs between boards, so positions are ignored: known words are parsed, all others are skipped.
 * The line is untrusted.
 */
#ifndef SONDE_PROBE_GPU_TEGRASTATS_H
#define SONDE_PROBE_GPU_TEGRASTATS_H

#include <stddef.h>

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
