
#include "cli/recording.h"

#include "base/cleanup.h"
#include "base/shell-words.h"
#include "calls/calls-find.h"
#include "launch/launch.h"
#include "record/slurm-task.h"
#include "result/term.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SWITCHES 2 /* options that enable a probe */

static const char *const stack_words[] = { "auto", "fp", "none", NULL };
static const char *const way_words[] = { "auto", "bpf", "perf", "ptrace", NULL };
static const char *const overflow_words[] = { "drop", "block", NULL };

const struct cli_option recording_rows[] = {
	{ 'o', "output", "DIR", CLI_PATH(struct recording_options, dir),
			.help = "Output directory; it must not exist or be empty.",
			.default_words = "a new directory in ./sonde-runs or $SONDE_RUNS" },
	{ 'f', "force", NULL, CLI_FLAG(struct recording_options, is_forced),
			.help = "Replace the run in DIR; other files are kept. DIR must be a run." },
	{ 0, "name", "NAME", CLI_STRING(struct recording_options, name), .help = "Name of the run.",
			.default_words = "the program name" },
	{ 0, "probes", "LIST", CLI_WORDS(struct recording_options, probes), .choices = probe_words,
			.default_text = "all",
			.help = "Probes to enable: trace (calls and annotations), cpu (samples with stacks), sched "
				"(context switches), system (counters), python (Python functions), gpu (OpenCL, CUDA, "
				"NVTX, counters), block (disk requests). 'all' excludes net and syscalls (use --net, "
				"--syscalls)." },
	{ 0, "shell", NULL, CLI_FLAG(struct recording_options, is_shell),
			.help = "Run the command, given as one string, with /bin/sh." },
	{ 0, "follow", NULL, CLI_FLAG(struct recording_options, follow),
			.help = "Wait for all traced processes to exit, not only the program." },
	{ 'v', "verbose", NULL, CLI_FLAG(struct recording_options, is_verbose),
			.help = "Print a summary even if stderr is not a terminal." },
	{ 'q', "quiet", NULL, CLI_FLAG(struct recording_options, is_quiet), .help = "Print no summary." },
	{ 0, "pid", "PID", CLI_INT(struct recording_options, pid), .min = 1, .max = INT32_MAX,
			.group = "What to observe", .help = "Attach to this process and its future children." },
	{ 0, "cgroup", "DIR", CLI_PATH(struct recording_options, cgroup), .group = "What to observe",
			.help = "Attach to all processes in this cgroup." },
	{ 0, "all-cpus", NULL, CLI_FLAG(struct recording_options, is_all_cpus), .group = "What to observe",
			.help = "Observe the whole machine, with or without a program." },
	{ 0, "duration", "TIME", CLI_SECONDS(struct recording_options, duration_ns), .group = "What to observe",
			.default_words = "until the process exits or Ctrl-C",
			.help = "Stop after this time (seconds by default)." },
	{ 0, "freq", "HZ", CLI_INT(struct recording_options, freq), .min = 1, .max = 20000, .group = "Probes",
			.default_text = "199", .help = "Sampling frequency, in samples per second of CPU time." },
	{ 0, "events", "LIST", CLI_WORDS(struct recording_options, events), .group = "Probes",
			.default_words = "cycles if hardware counters are available, else cpu-clock",
			.help = "Events to sample: cpu-clock, page-faults, context-switches, and with hardware "
				"counters cycles, instructions, cache-misses and others." },
	{ 0, "stacks", "HOW", CLI_CHOICE(struct recording_options, stacks), .choices = stack_words, .group = "Probes",
			.default_text = "auto",
			.help = "Stack unwinding: auto uses .eh_frame and frame pointers, fp only frame pointers." },
	{ 0, "rate", "HZ", CLI_INT(struct recording_options, rate), .min = 1, .max = 1000, .group = "Probes",
			.default_text = "10", .help = "System counter sampling rate, in Hz." },
	{ 0, "net", NULL, CLI_FLAG(struct recording_options, has_net), .group = "Probes",
			.help = "Record network traffic by connection and process from packet headers: bytes, packets, "
				"retransmissions, round-trip times. Users other than root need sonde setup." },
	{ 0, "packets", NULL, CLI_FLAG(struct recording_options, has_packets), .group = "Probes",
			.help = "Like --net, with a row for each packet." },
	{ 0, "syscalls", NULL, CLI_FLAG(struct recording_options, has_syscalls), .group = "Probes",
			.help = "Record system calls of programs that the tracer cannot preload into: static binaries, "
				"Go programs, programs that clear their environment. Overhead with BPF: 1 to 4 us per "
				"call in these, about 0.5 us in others; see --syscalls-by." },
	{ 0, "syscalls-by", "WAY", CLI_CHOICE(struct recording_options, calls_by), .choices = way_words,
			.group = "Probes", .default_text = "auto",
			.help = "Like --syscalls, with one mechanism: bpf; perf (tracepoints, 2 to 5 us per call and "
				"none in other processes, some paths unknown); or ptrace (20 us or more per call). "
				"auto uses the first that works." },
	{ 0, "timeout", "TIME", CLI_SECONDS(struct recording_options, timeout_ns), .group = "Limits and isolation",
			.default_words = "none",
			.help = "Stop the program and its descendants after this time: SIGINT, two seconds later "
				"SIGTERM, three seconds later SIGKILL." },
	PLACE_ROWS(struct recording_options, place, "Limits and isolation"),
	{ 0, "hosts", "LIST", CLI_WORDS(struct recording_options, hosts), .group = "Several hosts",
			.help = "Record the program on each of these hosts into one run with one clock; slurm: on the "
				"nodes of the allocation." },
	{ 0, "ssh", "COMMAND", CLI_STRING(struct recording_options, shell), .group = "Several hosts",
			.default_words = "ssh -T, for slurm srun",
			.help = "Remote shell command; host and command are appended." },
	{ 0, "remote", "PATH", CLI_STRING(struct recording_options, remote), .group = "Several hosts",
			.default_words = "same path as here", .help = "Path of sonde on the hosts." },
	{ 0, "include", "PATHS", CLI_PATHS(struct recording_options, include), .group = "Filters",
			.help = "Record only calls on files below these directories." },
	{ 0, "exclude", "PATHS", CLI_PATHS(struct recording_options, exclude), .group = "Filters",
			.help = "Skip calls on files below these directories." },
	{ 0, "only", "LIST", CLI_WORDS(struct recording_options, only), .choices = call_category_words,
			.group = "Filters", .help = "Record only these call categories." },
	{ 0, "without", "LIST", CLI_WORDS(struct recording_options, without), .choices = call_category_words,
			.group = "Filters", .help = "Skip these call categories." },
	{ 0, "min-duration", "TIME", CLI_DURATION(struct recording_options, min_dur_ns), .group = "Filters",
			.default_text = "0", .help = "Skip calls shorter than this." },
	{ 0, "cpu-filters", "LIST", CLI_WORDS(struct recording_options, cpu_filters), .group = "Filters",
			.help = "Display colors of functions by keywords in their names: KEYWORD:COLOR, "
				"comma-separated." },
	{ 0, "gpu-filters", "LIST", CLI_WORDS(struct recording_options, gpu_filters), .group = "Filters",
			.help = "The same for GPU kernels and copies." },
	{ 0, "overflow", "WHAT", CLI_CHOICE(struct recording_options, overflow), .choices = overflow_words,
			.group = "Limits", .default_text = "drop",
			.help = "If events arrive faster than they are written: drop and count them, or block the "
				"program." },
	{ 0, "memory", "SIZE", CLI_SIZE(struct recording_options, memory), .group = "Limits", .default_text = "256M",
			.help = "Memory for unwritten events, of all processes." },
	{ 0, "process-memory", "SIZE", CLI_SIZE(struct recording_options, process_memory), .group = "Limits",
			.default_text = "64M", .help = "Memory for unwritten events, of one process." },
	{ 0, "ring", "DIR", CLI_PATH(struct recording_options, ring), .group = "Limits",
			.default_words = "/dev/shm, else the run directory",
			.help = "Directory of that memory, on tmpfs or a local disk." },
	CLI_OPTIONS_END,
};

const struct cli_exit_code recording_exit_codes[] = {
	{ "the program name",
			"The exit status of the program; if a signal killed it, sonde is killed by the same "
			"signal." },
	{ "2", "Usage error." },
	{ "124", "The program was stopped by --timeout." },
	{ "125", "sonde failed." },
	{ "126", "The program was found but could not be executed." },
	{ "127", "The program was not found." },
	{ NULL, NULL },
};

static uint32_t categories_of(const struct recording_options *o)
{
	uint32_t bits = 0;
	for (unsigned i = 0; call_category_words[i]; i++)
		if ((!o->only.count || cli_list_has(&o->only, call_category_words[i])) &&
				!cli_list_has(&o->without, call_category_words[i]))
			bits |= 1u << i;
	return bits;
}

/* Filters compare absolute paths. */
static const char *const *absolute(struct cli_context *ctx, const struct cli_list *list)
{
	const char **out = arena_alloc(ctx->arena, (list->count + 1) * sizeof(*out));
	char cwd[4096];
	if (!out || !getcwd(cwd, sizeof(cwd)))
		return NULL;
	for (size_t i = 0; i < list->count; i++) {
		const char *p = list->items[i];
		while (!strncmp(p, "./", 2))
			p += 2;
		out[i] = *p == '/'                ? p
				: !strcmp(p, ".") ? arena_strdup(ctx->arena, cwd)
						  : arena_printf(ctx->arena, "%s/%s", cwd, p);
	}
	return out;
}

/* A single word with blanks is a whole command line, unless a program of that name exists. */
static int take_command(struct cli_context *ctx, bool is_shell)
{
	static char sh[] = "/bin/sh", option[] = "-c";
	if (is_shell) {
		if (ctx->program[1])
			return cli_usage(ctx, "--shell requires the command as one string");
		char **argv = arena_alloc(ctx->arena, 4 * sizeof(*argv));
		if (!argv)
			return err_sys(ctx->err, ENOMEM, "cannot parse the command");
		argv[0] = sh;
		argv[1] = option;
		argv[2] = ctx->program[0];
		ctx->program = argv;
		return 0;
	}
	if (ctx->program[1] || !strchr(ctx->program[0], ' ') || !launch_check(ctx->program[0], NULL))
		return 0;
	struct sonde_err why = SONDE_ERR_INIT;
	if (!words_split(ctx->program[0], ctx->arena, &ctx->program, &why))
		return 0;
	int rc = cli_usage(ctx, "%s", why.text);
	err_hint(ctx->err, "%s", why.hint);
	return rc;
}

/* Only one target can be observed, without a program; with --all-cpus a program may run in addition. */
static int take_target(struct cli_context *ctx, const struct recording_options *o, struct probe_target *t)
{
	int targets = (o->pid > 0) + (o->cgroup != NULL) + o->is_all_cpus;
	if (targets > 1)
		return cli_usage(ctx, "--pid, --cgroup and --all-cpus are mutually exclusive");
	if (targets && ctx->program && !o->is_all_cpus)
		return cli_usage(ctx, "--pid and --cgroup cannot be combined with a program");
	if (o->duration_ns && (!targets || ctx->program))
		return cli_usage(ctx, "--duration requires --pid, --cgroup or --all-cpus");
	if (!targets && !ctx->program) {
		int rc = cli_usage(ctx, "missing program to run");
		err_hint(ctx->err, "usage: sonde %s %s", ctx->command->name, ctx->command->usage);
		return rc;
	}
	*t = (struct probe_target){ .kind = o->pid ? PROBE_PID
				: o->cgroup        ? PROBE_CGROUP
				: o->is_all_cpus   ? PROBE_MACHINE
						   : PROBE_COMMAND,
		.pid = (pid_t)o->pid,
		.cgroup = o->cgroup };
	return 0;
}

/* The words of --probes and those of options that enable a probe. */
static const char *const *take_probes(struct cli_context *ctx, const struct recording_options *o)
{
	const char **out = arena_alloc(ctx->arena, (o->probes.count + SWITCHES + 1) * sizeof(*out));
	size_t n = 0;
	for (size_t i = 0; out && i < o->probes.count; i++)
		out[n++] = o->probes.items[i];
	if (out && (o->has_net || o->has_packets))
		out[n++] = "net";
	if (out && (o->has_syscalls || o->calls_by))
		out[n++] = "syscalls";
	if (out)
		out[n] = NULL;
	return out;
}

/* "keyword:colour": neither is empty, and the color is a CSS name or number. */
static int check_filters(struct cli_context *ctx, const char *option, const struct cli_list *list)
{
	static const char colour[] = "#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	for (size_t i = 0; i < list->count; i++) {
		const char *colon = strrchr(list->items[i], ':');
		if (colon && colon > list->items[i] && colon[1] && !colon[1 + strspn(colon + 1, colour)])
			continue;
		return cli_usage(ctx, "invalid --%s '%s': expected KEYWORD:COLOR, such as idle:black", option,
				list->items[i]);
	}
	return 0;
}

static int exit_code(const struct record_result *r)
{
	return r->has_timed_out                ? RECORDING_TIMED_OUT
			: WIFEXITED(r->status) ? WEXITSTATUS(r->status)
					       : 128 + WTERMSIG(r->status);
}

/* Fills the record options: what is recorded, and where it runs. */
static int take_wishes(struct cli_context *ctx, struct recording_options *o, struct record_options *ro,
		struct job_isolation *place)
{
	int rc = take_target(ctx, o, &ro->target);
	if (!rc)
		rc = check_filters(ctx, "cpu-filters", &o->cpu_filters);
	if (!rc)
		rc = check_filters(ctx, "gpu-filters", &o->gpu_filters);
	if (!rc)
		rc = place_of(ctx, &o->place, place);
	if (!rc && !ctx->program && (place->kind != JOB_PROCESS || o->timeout_ns))
		rc = cli_usage(ctx, "limits, isolation and --timeout require a program to run");
	if (!rc && o->events.count > PROBE_EVENTS_MAX)
		rc = cli_usage(ctx, "too many --events (maximum %d)", PROBE_EVENTS_MAX);
	for (size_t i = 0; !rc && i < o->events.count; i++)
		if (!probe_has_event(o->events.items[i]))
			rc = cli_usage(ctx, "unknown event '%s'", o->events.items[i]);
	if (!rc && ctx->program)
		rc = take_command(ctx, o->is_shell);
	return rc;
}

/* Prints a summary at the end, unless is_silent. Returns 0 if something ran. */
static int run(struct cli_context *ctx, bool is_silent, struct record_result *result)
{
	struct recording_options *o = ctx->options;
	struct record_options ro = { .dir = o->dir,
		.name = o->name,
		.probes = take_probes(ctx, o),
		.probe = { .freq_hz = (unsigned)o->freq,
				.rate_hz = (unsigned)o->rate,
				.stacks = (enum probe_stacks)o->stacks,
				.events = o->events.items,
				.has_packets = o->has_packets,
				.calls_by = o->calls_by ? way_words[o->calls_by] : NULL },
		.duration_ns = o->duration_ns,
		.is_following = o->follow,
		.ring = { .categories = categories_of(o),
				.overflow = o->overflow ? SONDE_OVERFLOW_BLOCK : SONDE_OVERFLOW_DROP,
				.min_dur_ns = o->min_dur_ns,
				.run_bytes_max = o->memory,
				.process_bytes_max = o->process_memory,
				.place = o->ring,
				.includes = absolute(ctx, &o->include),
				.excludes = absolute(ctx, &o->exclude) } };
	const struct run_filters filters = { .cpu = o->cpu_filters.items, .gpu = o->gpu_filters.items };
	struct job_isolation place;
	int rc = take_wishes(ctx, o, &ro, &place);
	if (rc)
		return rc;
	struct record_step step;
	bool has_step = ctx->program && record_step_find(&step);
	ro.is_forced = o->is_forced && !has_step; /* in an srun step the first task replaces the run */
	if (has_step)
		rc = recording_step_begin(ctx, &step, &ro);
	if (rc) {
		ctx->exit_code = RECORDING_FAILED;
		return rc;
	}
	ro.argv = ctx->program;
	ro.place = place.kind == JOB_PROCESS ? NULL : &place;
	ro.timeout_ns = o->timeout_ns;
	ro.filters = o->cpu_filters.count || o->gpu_filters.count ? &filters : NULL;
	rc = record_run(&ro, result, ctx->err);
	if (rc) {
		int code = ctx->program ? launch_exit_code(rc) : 0;
		ctx->exit_code = code ? code : RECORDING_FAILED;
	} else if (result->trouble.text[0]) {
		cli_print_error("sonde", &result->trouble);
	}
	if (!rc && !is_silent && !o->is_quiet && (o->is_verbose || isatty(STDERR_FILENO)))
		recording_report(result);
	if (has_step)
		recording_step_end(&step, rc ? ctx->exit_code : exit_code(result), result);
	return rc;
}

static int run_hosts(struct cli_context *ctx, recording_look *look)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int status = 0, rc = recording_hosts(ctx, look != NULL, &status, &path);
	if (!rc && look)
		rc = look(path.data, ctx->err);
	if (!rc)
		ctx->exit_code = status;
	return rc;
}

int recording_do(struct cli_context *ctx, recording_look *look)
{
	const struct recording_options *o = ctx->options;
	struct record_result result = RECORD_RESULT_INIT;
	if (o->hosts.count)
		return run_hosts(ctx, look);
	int rc = run(ctx, look != NULL, &result);
	int status = result.has_timed_out ? W_EXITCODE(RECORDING_TIMED_OUT, 0) : result.status;
	fflush(NULL);
	if (!rc && look && result.path.len)
		rc = look(result.path.data, ctx->err);
	record_result_release(&result);
	if (rc || !ctx->program)
		return rc;
	launch_mirror(status);
}

/* The summary of a recording. */

/* "cpu: 1 234 events, 12 lost, 0.4 % of a CPU", or the reason why the probe did not run. */
static void report_probe(const struct probe_status *p, int64_t wall_ns)
{
	const char *name = p->ops->name, *why = p->why.text;
	char events[TERM_TEXT], lost[48] = "";

	if (p->lost)
		snprintf(lost, sizeof(lost), ", %llu lost", (unsigned long long)p->lost);
	if (p->state == PROBE_RAN)
		cli_message("sonde", "%s: %s events%s, %.2f %% of a CPU%s%s", name, term_count(events, p->events), lost,
				wall_ns > 0 ? (double)p->cpu_ns * 100 / (double)wall_ns : 0.0, *why ? "; " : "", why);
	else if (p->state == PROBE_OFF && p->ops->option)
		cli_message("sonde", "%s: off (enable with %s)", name, p->ops->option);
	else
		cli_message("sonde", "%s: %s%s%s", name, probe_state_words[p->state], *why ? ": " : "", why);
}

static void report_trace(const struct record_result *r)
{
	const char *why = r->trace_why.text;
	char events[TERM_TEXT];

	if (strcmp(r->trace_state, "ran") != 0)
		cli_message("sonde", "trace: %s%s%s", r->trace_state, *why ? ": " : "", why);
	else
		cli_message("sonde", "trace: %s events of %llu process%s%s%s", term_count(events, r->events),
				(unsigned long long)r->processes, r->processes == 1 ? "" : "es", *why ? "; " : "", why);
	if (r->dropped) {
		cli_message("sonde", "%llu events were dropped", (unsigned long long)r->dropped);
		cli_message("hint", "increase --memory and --process-memory, or use --overflow block");
	}
	if (r->filtered)
		cli_message("sonde", "%llu events were filtered", (unsigned long long)r->filtered);
	if (r->untraced) {
		cli_message("sonde", "%llu processes could not be traced", (unsigned long long)r->untraced);
		cli_message("hint", "'sonde info' lists them");
	}
}

static void report_oom(const struct record_result *r)
{
	bool is_program = WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGKILL;
	char limit[TERM_TEXT + 16] = "", bytes[TERM_TEXT];

	if (r->oom_kills <= 0)
		return;
	if (r->memory_max_bytes > 0)
		snprintf(limit, sizeof(limit), " (limit %s)", term_bytes(bytes, r->memory_max_bytes));
	cli_message("sonde", "%s killed by the out-of-memory killer%s",
			is_program ? "the program was" : "processes of the program were", limit);
}

void recording_report(const struct record_result *r)
{
	char events[TERM_TEXT], bytes[TERM_TEXT];
	uint64_t all = r->events;

	for (size_t i = 0; i < r->probe_count; i++)
		all += r->probes[i].events;
	cli_message("sonde", "recorded %s events of %llu process%s in %s (%s)", term_count(events, all),
			(unsigned long long)r->processes, r->processes == 1 ? "" : "es", r->path.data,
			term_bytes(bytes, r->bytes));
	report_oom(r);
	report_trace(r);
	for (size_t i = 0; i < r->probe_count; i++)
		report_probe(&r->probes[i], r->wall_ns);
	/* Probes often fail for the same reason: each distinct hint is printed once. */
	for (size_t i = 0; i < r->probe_count; i++) {
		const char *hint = r->probes[i].why.hint;
		bool is_printed = !*hint;

		for (size_t k = 0; k < i; k++)
			is_printed |= !strcmp(r->probes[k].why.hint, hint);
		if (!is_printed)
			cli_message("hint", "%s", hint);
	}
}
