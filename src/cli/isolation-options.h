/*
 * isolation-options: limits and isolation of programs, as options of record, stat and duet.
 *
 * PLACE_ROWS(S, field, group) are the option rows of a `struct isolation_options field` in the command's struct S;
 * place_of converts them to a struct job_isolation.
 */
#ifndef SONDE_CLI_ISOLATION_OPTIONS_H
#define SONDE_CLI_ISOLATION_OPTIONS_H

#include "cli/cli.h"
#include "launch/job.h"

struct isolation_options {
	double cpus; /* 0: no limit; the same for the others */
	uint64_t memory_limit;
	int64_t pids_limit;
	bool is_sandboxed;
	const char *image;
	const char *engine;
	struct cli_list engine_args;
};

int place_set_cpus(const struct cli_option *option, const char *value, void *options, struct sonde_err *err);

/* clang-format off */
#define PLACE_ROWS(S, field, heading) \
	{ 0, "cpus", "N", CLI_SETTER(place_set_cpus), .offset = offsetof(S, field.cpus), .group = heading, \
			.default_words = "all", \
			.help = "CPU limit, in cores (0.5 = half a core). Limits require a cgroup." }, \
	{ 0, "memory-limit", "SIZE", CLI_SIZE(S, field.memory_limit), .group = heading, .default_words = "none", \
			.help = "Memory limit; exceeding it triggers the OOM killer." }, \
	{ 0, "pids-limit", "N", CLI_INT(S, field.pids_limit), .min = 1, .max = 4194304, .group = heading, \
			.default_words = "none", .help = "Maximum number of processes and threads." }, \
	{ 0, "sandbox", NULL, CLI_FLAG(S, field.is_sandboxed), .group = heading, \
			.help = "Run in separate namespaces: file changes are discarded and remaining processes are " \
				"killed at exit." }, \
	{ 0, "image", "IMAGE", CLI_STRING(S, field.image), .group = heading, \
			.help = "Run in a container of this image, with podman or docker." }, \
	{ 0, "engine", "ENGINE", CLI_STRING(S, field.engine), .group = heading, \
			.default_words = "podman, else docker", \
			.help = "Container engine for --image: podman, docker, or the path of a compatible one." }, \
	{ 0, "engine-arg", "ARGUMENT", CLI_STRINGS(S, field.engine_args), .group = heading, \
			.help = "Additional argument of the container engine's run command (repeatable)." }
/* clang-format on */

/* JOB_PROCESS if no option is given. Conflicting options are usage errors. */
int place_of(struct cli_context *ctx, const struct isolation_options *o, struct job_isolation *place);

#endif
