/*
 * tegrastats: what a line of that tool tells of a board, one reading after another.
 *
 *	05-14-2026 12:00:01 RAM 2700/6850MB (lfb 4x4MB) SWAP 12/3425MB (cached 0MB) CPU [12%@1190,off,3%@1190]
 *	GR3D_FREQ 45%@[1109] CPU@41.5C VDD_IN 2763mW/2846mW
 *
 * What is where differs from board to board, so nothing is expected at a place: words that are understood are
 * told, all others are passed over. Anything may stand in a line.
 */
#ifndef SONDE_PROBE_GPU_TEGRASTATS_H
#define SONDE_PROBE_GPU_TEGRASTATS_H

#include <stddef.h>

enum tegra_kind {
	TEGRA_RAM,         /* bytes in use; other: of how many */
	TEGRA_SWAP,        /* the same */
	TEGRA_CPUS,        /* percent that those were busy that are on, their mean */
	TEGRA_ENGINE,      /* percent that "GR3D" was busy; other: its clock in hertz */
	TEGRA_TEMPERATURE, /* of a zone, in degrees Celsius */
	TEGRA_POWER,       /* of a rail, in watts */
	TEGRA_KIND_COUNT,
};

struct tegra_reading {
	enum tegra_kind kind;
	const char *name; /* of the engine, zone or rail: bytes of the line, none where the kind says all */
	size_t name_bytes;
	double value, other; /* NaN: it was not told; a value always is */
};

/* The next reading of a line, from `at` on; where to go on, NULL: there is no other. */
const char *tegra_next(const char *at, struct tegra_reading *r);

#endif
