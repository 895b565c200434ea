/*
 * action: what a rule does, as one line of words.
 *
 *	weight detector 300          CPU weight of the application's cgroup, 1 to 10000; default 100
 *	io detector 300              the same for its disks
 *	cap hogs 0.5                 CPU limit, in cores
 *	high hogs 400M               memory limit for throttling and reclaim (memory.high)
 *	memory hogs 512M             hard memory limit
 *	pids hogs 100                maximum number of processes and threads
 *	freeze hogs, thaw hogs
 *	signal hogs USR1             to every process of the cgroup
 *	end hogs                     SIGINT, then SIGTERM, then SIGKILL
 *	knob detector batch 8        a knob of the application
 *	exec notify-me --now         a command, without a shell
 *	webhook http://host/path     an alert in Alertmanager's format
 *	mqtt host:1883 topic [1]     a message; 1: wait for the broker's acknowledgement
 *	report words...              write to the action log only
 *
 * For a regulator, weight, io, cap, high, memory and knob have a range instead of a value, from rest to full effort:
 * `weight detector 100..3000`, `cap hogs 2..0.2`.
 */
#ifndef SONDE_LIVE_RULES_ACTION_H
#define SONDE_LIVE_RULES_ACTION_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum action_kind { /* in the order in which regulators use them: weight before cap */
	ACTION_WEIGHT,
	ACTION_IO,
	ACTION_CAP,
	ACTION_HIGH,
	ACTION_MEMORY,
	ACTION_PIDS,
	ACTION_KNOB,
	ACTION_FREEZE,
	ACTION_THAW,
	ACTION_SIGNAL,
	ACTION_END,
	ACTION_EXEC,
	ACTION_WEBHOOK,
	ACTION_MQTT,
	ACTION_REPORT,
	ACTION_KINDS
};

struct action {
	enum action_kind kind;
	const char *text; /* as it was written */
	const char *app;  /* NULL: none */
	const char *name; /* of the knob or topic; the URL; the text of the report */
	const char *host; /* of the broker */
	unsigned port;
	int qos;
	int signal;
	double value;       /* memory in bytes */
	double rest, full;  /* of a range */
	const char *choice; /* a knob's non-numeric value */
	char **argv;
};

int action_parse(struct action *a, const char *text, bool is_range, struct arena *arena, struct sonde_err *err);
const char *action_word(enum action_kind kind);
/* The value at an effort from 0 to 1: geometric interpolation, linear for knobs. */
double action_value(const struct action *a, double effort);

#endif
