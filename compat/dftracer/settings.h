/*
 * settings: settings from the environment and from the file named by DFTRACER_CONFIGURATION.
 *
 * One table has the variables, the keys and the defaults; the environment takes precedence. Booleans are 1, true, on,
 * yes. SONDE_DFTRACER_STRICT=1 restores the behaviour of DFTracer: only "1" is true, an unset DFTRACER_DATA_DIR
 * traces nothing and relative paths are never traced, DFTRACER_DISABLE_TIDS=0 disables, DFTRACER_TRACE_COMPRESSION
 * can only switch off, features.io needs a sibling features.enable, names lose `( ) \ " ' |`.
 *
 * Without DFTRACER_LOG_LEVEL nothing is printed: the output belongs to the program.
 */
#ifndef DFTRACER_SETTINGS_H
#define DFTRACER_SETTINGS_H

#include "pfw/pfwlog.h"

#include <stdbool.h>
#include <stdint.h>

#define SETTING_TEXT_BYTES 4096

enum init_mode { INIT_FUNCTION, INIT_PRELOAD, INIT_NONE };
enum log_level { LEVEL_SILENT, LEVEL_ERROR, LEVEL_WARN, LEVEL_INFO, LEVEL_DEBUG };
enum time_metric { METRIC_US, METRIC_NS, METRIC_MS, METRIC_SEC };
enum aggregation { AGGREGATE_FULL, AGGREGATE_SELECTIVE };

/* Numbers first, so that one table can fill them; -1: not set. */
struct settings {
	int64_t is_strict;
	int64_t is_enabled;
	int64_t format; /* 'C', 'D', 'E' */
	int64_t init;
	int64_t log_level;
	int64_t has_compression;
	int64_t interval_ms;
	int64_t time_metric;
	int64_t gotcha_priority;
	int64_t has_metadata;
	int64_t has_core_affinity;
	int64_t has_io, has_posix, has_stdio;
	int64_t has_features; /* the key required in strict mode */
	int64_t has_tids;
	int64_t binds_signals;
	int64_t throws_error;
	int64_t buffer_bytes;
	int64_t is_aggregating, aggregation;
	char log_file[SETTING_TEXT_BYTES];
	char data_dirs[2 * SETTING_TEXT_BYTES]; /* colon-separated; empty: not set */
	char aggregation_file[SETTING_TEXT_BYTES];
	char rules[RULES_TEXT_BYTES]; /* of aggregation_file, in the form of pfw/pfwlog.h */
	const char *unread;           /* a configured file that could not be read; NULL: none */
};

void settings_read(struct settings *s);
int64_t settings_unit_ns(const struct settings *s);

#endif
