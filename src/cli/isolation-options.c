#include "cli/isolation-options.h"

#include <errno.h>
#include <stdlib.h>

int place_set_cpus(const struct cli_option *option, const char *value, void *options, struct sonde_err *err)
{
	double *field = (void *)((char *)options + option->offset);
	char *end;
	errno = 0;
	double cpus = strtod(value, &end);
	if (errno || end == value || *end || !(cpus >= 0.01 && cpus <= 100000))
		return err_set(err, EINVAL, "invalid number of CPUs '%2$s' for --%1$s: expected for example 0.5 or 2",
				option->long_name, value);
	*field = cpus;
	return 0;
}

int place_of(struct cli_context *ctx, const struct isolation_options *o, struct job_isolation *place)
{
	bool has_limits = o->cpus > 0 || o->memory_limit || o->pids_limit;
	*place = (struct job_isolation){ .kind = o->image ? JOB_CONTAINER
				: o->is_sandboxed         ? JOB_SANDBOX
				: has_limits              ? JOB_CGROUP
							  : JOB_PROCESS,
		.limits = { .cpus = o->cpus, .memory_bytes = o->memory_limit, .pids = (uint64_t)o->pids_limit },
		.image = o->image,
		.engine = o->engine,
		.engine_args = o->engine_args.count ? o->engine_args.items : NULL };
	if (o->image && o->is_sandboxed)
		return cli_usage(ctx, "--image and --sandbox are mutually exclusive");
	if ((o->engine_args.count || o->engine) && !o->image)
		return cli_usage(ctx, "%s requires --image", o->engine ? "--engine" : "--engine-arg");
	return 0;
}
