/*
 * sofa: SOFA's command line on sonde.
 *
 *	sofa [OPTION...] stat|record|preprocess|analyze|report|viz|diff|clean ["COMMAND"]
 *
 * Options may stand anywhere, as they could; every one that SOFA had is in the table
 * below: it becomes an option of sonde, is on anyway, or is refused with what to use
 * instead. The log directory (./sofalog) is a run bundle.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGS_MAX 256
#define COMPAT_BIN "/lib/sonde/compat/sofa/bin/sofa"

enum { RECORD = 1, PREPARE = 2, SUMMARY = 4, VIEW = 8, DIFF = 16 }; /* stages that take an option */
enum kind { PASS, ALWAYS, NOTED, REFUSED, OWN };

struct row {
	const char *name;
	bool has_value;
	enum kind kind;
	unsigned stages;    /* PASS */
	const char *option; /* PASS: sonde's; else why, and what instead */
};

static const struct row rows[] = {
	{ "--logdir", true, OWN, 0, NULL },
	{ "--base_logdir", true, OWN, 0, NULL },
	{ "--match_logdir", true, OWN, 0, NULL },
	{ "--with-gui", false, OWN, 0, NULL },
	{ "--verbose", false, OWN, 0, NULL },
	{ "--pid", true, OWN, 0, NULL },
	{ "--profile_all_cpus", false, PASS, RECORD, "--all-cpus" },
	{ "--perf_events", true, PASS, RECORD, "--events" },
	{ "--no-perf-events", false, PASS, RECORD, "--probes=trace,sched,system,block,gpu" },
	{ "--sys-mon-rate", true, PASS, RECORD, "--rate" },
	{ "--enable_strace", false, PASS, RECORD, "--syscalls" },
	{ "--enable_tcpdump", false, PASS, RECORD, "--packets" },
	{ "--cpu_filters", true, OWN, 0, NULL },
	{ "--gpu_filters", true, OWN, 0, NULL },
	{ "--cpu_top_k", true, PASS, SUMMARY, "--top" },
	{ "--viz_port", true, PASS, VIEW, "--port" },
	{ "--profile_region", true, PASS, SUMMARY, "--roi" },
	{ "--skip_preprocess", false, ALWAYS, 0, "a run needs no preprocessing" },
	{ "--enable_py_stacks", false, ALWAYS, 0, "functions of CPython programs are in the stacks of samples" },
	{ "--enable_vmstat", false, ALWAYS, 0, "the system's counters are recorded" },
	{ "--enable_aisi", false, ALWAYS, 0, "iterations are shown, announced by the program or found" },
	{ "--aisi_via_strace", false, ALWAYS, 0, "iterations are shown, announced by the program or found" },
	{ "--enable_swarms", false, ALWAYS, 0, "functions that act together are always grouped" },
	{ "--display_swarms", false, ALWAYS, 0, "functions that act together are always grouped" },
	{ "--hsg_multifeatures", false, ALWAYS, 0, "it did nothing" },
	{ "--num_iterations", true, ALWAYS, 0, "the number is found" },
	{ "--num_swarms", true, ALWAYS, 0, "the number is found" },
	{ "--netstat_interface", true, ALWAYS, 0, "every interface is recorded" },
	{ "--diskstat_filters", true, ALWAYS, 0, "every disk is recorded" },
	{ "--plot_ratio", true, ALWAYS, 0, "the page draws every event" },
	{ "--cpu_time_offset_ms", true, ALWAYS, 0, "everything is on one clock" },
	{ "--nvsmi_time_zone", true, ALWAYS, 0, "everything is on one clock" },
	{ "--absolute_timestamp", false, ALWAYS, 0, "the clock's anchor is in the run" },
	{ "--strace_min_time", true, ALWAYS, 0, "calls of every length are recorded; filter when looking" },
	{ "--is-idle-threshold", true, ALWAYS, 0, "time is accounted exactly, not by a threshold" },
	{ "--blkdev", true, ALWAYS, 0, "requests to every disk are recorded; 'sonde events --table block' has them" },
	{ "--network_filters", true, REFUSED, 0, "'sonde events --table flow' has addresses and bytes of every flow" },
	{ "--cluster_ip", true, PASS, RECORD, "--hosts" },
	{ "--nvprof_inside", false, ALWAYS, 0, "what devices do is recorded, in containers too" },
	{ "--enable_encode_decode", false, ALWAYS, 0, "encoder and decoder are among the counters of devices" },
	{ "--cuda_api_tracing", false, ALWAYS, 0, "calls of CUDA are spans of the category cuda" },
	{ "--spotlight_gpu", false, REFUSED, 0, "give the region with --profile_region" },
	{ "--potato_server", true, REFUSED, 0, "'sonde summary' gives its advice itself" },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

struct line {
	const char *words[ARGS_MAX];
	size_t count;
};

struct sofa {
	const char *logdir, *base, *match, *pid, *cpu_filters, *gpu_filters;
	bool has_gui, is_verbose;
	const char *word;
	struct line command;
	struct line stages[5]; /* by bit number: the options for it */
	char groups[8192];
	char sonde[4096];
};

__attribute__((format(printf, 1, 2))) static int fail(const char *format, ...)
{
	va_list ap;
	fputs("sofa: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 2;
}

static void add(struct line *line, const char *word)
{
	if (line->count + 1 < ARGS_MAX)
		line->words[line->count++] = word;
}

static const struct row *find(const char *word, size_t len)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strlen(rows[i].name) == len && !memcmp(rows[i].name, word, len))
			return &rows[i];
	return NULL;
}

static void take_own(struct sofa *s, const struct row *row, const char *value)
{
	const struct {
		const char *name, **to;
	} values[] = { { "--logdir", &s->logdir }, { "--base_logdir", &s->base }, { "--match_logdir", &s->match },
		{ "--pid", &s->pid }, { "--cpu_filters", &s->cpu_filters }, { "--gpu_filters", &s->gpu_filters } };
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (!strcmp(row->name, values[i].name))
			*values[i].to = value;
	s->has_gui |= !strcmp(row->name, "--with-gui");
	if (!strcmp(row->name, "--verbose") && !s->is_verbose) {
		s->is_verbose = true;
		add(&s->stages[__builtin_ctz(SUMMARY)], "--full");
	}
}

static int take_option(struct sofa *s, const struct row *row, const char *value)
{
	if (row->kind == REFUSED)
		return fail("%s: %s", row->name, row->option);
	if (row->kind == OWN)
		take_own(s, row, value);
	if (row->kind == NOTED || (row->kind == ALWAYS && s->is_verbose))
		fprintf(stderr, "sofa: %s has no effect: %s\n", row->name, row->option);
	for (unsigned stage = 0; row->kind == PASS && stage < 5; stage++) {
		if (!(row->stages & 1u << stage))
			continue;
		add(&s->stages[stage], row->option);
		if (value)
			add(&s->stages[stage], value);
	}
	return 0;
}

static int take_words(struct sofa *s, char **argv)
{
	for (; *argv; argv++) {
		size_t len = strcspn(*argv, "=");
		const struct row *row = **argv == '-' ? find(*argv, len) : NULL;
		const char *value = (*argv)[len] ? *argv + len + 1 : NULL;
		if (**argv != '-' && !s->word)
			s->word = *argv;
		else if (**argv != '-')
			add(&s->command, *argv);
		else if (!row)
			return fail("unknown option '%s'", *argv);
		else if (!row->has_value && value)
			return fail("%s takes no value", row->name);
		else if (row->has_value && !value && !(value = *++argv))
			return fail("%s wants a value", row->name);
		else if (take_option(s, row, value))
			return 2;
	}
	return 0;
}

static int find_sonde(struct sofa *s)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t tail = strlen(COMPAT_BIN);
	if (n < 0 || (size_t)n <= tail || memcmp(self + n - tail, COMPAT_BIN, tail))
		return fail("cannot find sonde");
	snprintf(s->sonde, sizeof(s->sonde), "%.*s/bin/sonde", (int)((size_t)n - tail), self);
	return 0;
}

/* sonde WORD [options of a stage] [more...]; does not return when it is the last. */
static int run(struct sofa *s, bool is_last, const char *word, unsigned stage, const char *const *more)
{
	struct line line = { 0 };
	int status = 0;
	add(&line, s->sonde);
	add(&line, word);
	for (unsigned i = 0; stage && i < s->stages[__builtin_ctz(stage)].count; i++)
		add(&line, s->stages[__builtin_ctz(stage)].words[i]);
	for (; *more; more++)
		add(&line, *more);
	for (size_t i = 0; !strcmp(word, "record") + !strcmp(word, "stat") && i < s->command.count; i++)
		add(&line, s->command.words[i]);
	pid_t child = is_last ? 0 : fork();
	if (!child) {
		execv(s->sonde, (char **)(void *)line.words);
		_exit(fail("cannot run '%s': %s", s->sonde, strerror(errno)));
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return fail("cannot run '%s': %s", s->sonde, strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* SOFA drew these whatever it was told, and the others unless it was told otherwise. */
#define GPU_ALWAYS "CUDA_COPY_H2D:red,CUDA_COPY_D2H:peru,CUDA_COPY_P2P:purple"
#define GPU_USUAL "_fw_:royalblue,_bw_:darkviolet,AllReduceKernel:indigo"

static int do_record(struct sofa *s)
{
	char gpu[4096];
	snprintf(gpu, sizeof(gpu), GPU_ALWAYS ",%s", s->gpu_filters ? s->gpu_filters : GPU_USUAL);
	struct line *o = &s->stages[__builtin_ctz(RECORD)];
	add(o, "--cpu-filters");
	add(o, s->cpu_filters ? s->cpu_filters : "idle:black");
	add(o, "--gpu-filters");
	add(o, gpu);
	if (!s->command.count && s->pid) { /* SOFA only wrote the number down */
		add(o, "--pid");
		add(o, s->pid);
		return run(s, true, s->word, RECORD, (const char *[]){ "--force", "--output", s->logdir, NULL });
	}
	if (!s->command.count)
		return fail("%s wants a command, in quotes, or --pid", s->word);
	if (s->pid)
		fprintf(stderr, "sofa: --pid has no effect beside a command; without one that process is recorded\n");
	return run(s, true, s->word, RECORD, (const char *[]){ "--force", "--output", s->logdir, "--", NULL });
}

/* Without any the page draws those that were given when the run was made. */
static void pass_groups(struct sofa *s)
{
	const char *cpu = s->cpu_filters, *gpu = s->gpu_filters;
	if (!cpu && !gpu)
		return;
	snprintf(s->groups, sizeof(s->groups), "%s%s%s", cpu ? cpu : "", cpu && gpu ? "," : "", gpu ? gpu : "");
	add(&s->stages[__builtin_ctz(VIEW)], "--groups");
	add(&s->stages[__builtin_ctz(VIEW)], s->groups);
}

static int do_preprocess(struct sofa *s)
{
	return run(s, true, "preprocess", PREPARE, (const char *[]){ s->logdir, NULL });
}

static int do_analyze(struct sofa *s)
{
	return run(s, true, "summary", SUMMARY, (const char *[]){ s->logdir, NULL });
}

static int do_viz(struct sofa *s)
{
	pass_groups(s);
	return run(s, true, "view", VIEW, (const char *[]){ s->logdir, NULL });
}

static int do_report(struct sofa *s)
{
	int code = run(s, false, "preprocess", PREPARE, (const char *[]){ s->logdir, NULL });
	code = code ? code : run(s, false, "summary", SUMMARY, (const char *[]){ s->logdir, NULL });
	if (code)
		return code;
	if (s->has_gui)
		return do_viz(s);
	fprintf(stderr, "sofa: to see it in the browser: sofa viz\n");
	return 0;
}

static int do_diff(struct sofa *s)
{
	if (!s->base || !s->match)
		return fail("diff wants --base_logdir and --match_logdir");
	return run(s, true, "diff", DIFF, (const char *[]){ s->base, s->match, NULL });
}

static int do_clean(struct sofa *s)
{
	return run(s, true, "clean", 0, (const char *[]){ s->logdir, NULL });
}

static const struct {
	const char *word;
	int (*run)(struct sofa *);
	const char *does;
} words[] = {
	{ "stat", do_record, "run a command and say where its time went" },
	{ "record", do_record, "run a command and record what it does" },
	{ "preprocess", do_preprocess, "prepare the run for fast looking" },
	{ "analyze", do_analyze, "say where the time went" },
	{ "report", do_report, "preprocess and analyze; with --with-gui also viz" },
	{ "viz", do_viz, "show the run in the browser" },
	{ "diff", do_diff, "compare --base_logdir with --match_logdir" },
	{ "clean", do_clean, "remove what can be made again" },
};

#define WORDS (sizeof(words) / sizeof(*words))

static void help(void)
{
	puts("Usage: sofa [OPTION...] COMMAND [\"PROGRAM ARGUMENT...\"]\n\nSOFA's command line on sonde.\n");
	for (size_t i = 0; i < WORDS; i++)
		printf("  %-11s %s\n", words[i].word, words[i].does);
	puts("\nOptions");
	for (size_t i = 0; i < ROWS; i++)
		printf("  %s%s%s%s\n", rows[i].name, rows[i].has_value ? " VALUE" : "",
				rows[i].kind == PASS                                              ? "  as sonde's "
						: rows[i].kind == ALWAYS || rows[i].kind == NOTED ? "  no effect: "
						: rows[i].kind == REFUSED                         ? "  refused: "
												  : "",
				rows[i].option ? rows[i].option : "");
}

int main(int argc, char **argv)
{
	struct sofa s = { .logdir = "sofalog" };
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help();
		return 0;
	}
	int code = find_sonde(&s);
	code = code ? code : take_words(&s, argv + 1);
	if (code)
		return code;
	for (size_t i = 0; s.word && i < WORDS; i++)
		if (!strcmp(s.word, words[i].word))
			return words[i].run(&s);
	return fail("'%s' is not a command; 'sofa --help' lists them", s.word ? s.word : "");
}
