/*
 * sofa: SOFA's command line on sonde.
 *
 *   sofa [OPTION...] stat|record|preprocess|analyze|report|viz|diff|clean ["COMMAND"]
 *
 * Options may be anywhere, as in SOFA; each of SOFA's options is in the table below: it is mapped to an option of
 * sonde, is always on, or is refused with a replacement. The log directory (./sofalog) is a run directory.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOSTS_MAX 64
#define COMPAT_BIN "/lib/sonde/compat/sofa/bin/sofa"

enum { RECORD = 1, PREPARE = 2, SUMMARY = 4, VIEW = 8, DIFF = 16 }; /* stages that take an option */
enum { LAST = 1, TO_STDERR = 2 };                                  /* how sonde is run */
enum kind { PASS, ALWAYS, NOTED, REFUSED, OWN };

struct row {
	const char *name;
	bool has_value;
	enum kind kind;
	unsigned stages;    /* PASS */
	const char *option; /* PASS: sonde's option; else the reason and the replacement */
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
	{ "--profile_region", true, OWN, 0, NULL },
	{ "--cluster_ip", true, OWN, 0, NULL },
	{ "--skip_preprocess", false, ALWAYS, 0, "a run needs no preprocessing" },
	{ "--enable_py_stacks", false, ALWAYS, 0, "functions of CPython programs are in the stacks of samples" },
	{ "--enable_vmstat", false, ALWAYS, 0, "the system's counters are recorded" },
	{ "--enable_aisi", false, ALWAYS, 0, "iterations are shown, announced by the program or found" },
	{ "--aisi_via_strace", false, ALWAYS, 0, "iterations are shown, announced by the program or found" },
	{ "--enable_swarms", false, ALWAYS, 0, "functions that act together are always grouped" },
	{ "--display_swarms", false, ALWAYS, 0, "functions that act together are always grouped" },
	{ "--hsg_multifeatures", false, ALWAYS, 0, "it did nothing" },
	{ "--num_iterations", true, NOTED, 0, "the number is found" },
	{ "--num_swarms", true, NOTED, 0, "the number is found" },
	{ "--netstat_interface", true, ALWAYS, 0, "every interface is recorded" },
	{ "--diskstat_filters", true, ALWAYS, 0, "every disk is recorded" },
	{ "--plot_ratio", true, ALWAYS, 0, "the page draws every event" },
	{ "--cpu_time_offset_ms", true, NOTED, 0, "everything is on one clock" },
	{ "--nvsmi_time_zone", true, NOTED, 0, "everything is on one clock" },
	{ "--absolute_timestamp", false, NOTED, 0, "'sonde export --to sofa' writes the start's to sofa_time.txt" },
	{ "--strace_min_time", true, NOTED, 0, "'sonde events --min-duration' shows the calls that took so long" },
	{ "--is-idle-threshold", true, NOTED, 0, "time is accounted exactly, not by a threshold" },
	{ "--blkdev", true, ALWAYS, 0, "requests to every disk are recorded; 'sonde events --table block' has them" },
	{ "--network_filters", true, REFUSED, 0, "'sonde events --table flow' has addresses and bytes of every flow" },
	{ "--nvprof_inside", false, ALWAYS, 0, "what devices do is recorded, in containers too" },
	{ "--enable_encode_decode", false, ALWAYS, 0, "encoder and decoder are among the counters of devices" },
	{ "--cuda_api_tracing", false, ALWAYS, 0, "calls of CUDA are spans of the category cuda" },
	{ "--spotlight_gpu", false, PASS, SUMMARY, "--roi=spotlight:gpu.0.util_percent" },
	{ "--shell", false, PASS, RECORD, "--shell" }, /* SOFA passed every command to a shell */
	{ "--potato_server", true, REFUSED, 0, "'sonde summary' gives its advice itself" },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

struct line {
	const char **words; /* NULL-terminated */
	size_t count;
};

struct sofa {
	const char *logdir, *base, *match, *pid, *cpu_filters, *gpu_filters, *region, *hosts;
	bool has_gui, is_verbose;
	const char *word;
	struct line command;
	struct line stages[5]; /* by bit number: the options for it */
	char groups[8192], roi[256];
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
	const char **words = realloc(line->words, (line->count + 2) * sizeof(*words));
	if (!words)
		exit(fail("no memory for the command line"));
	line->words = words;
	words[line->count++] = word;
	words[line->count] = NULL;
}

/* Add an option with its value, if it has one. */
static void give(struct line *line, const char *option, const char *value)
{
	if (!value)
		return;
	add(line, option);
	add(line, value);
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
		{ "--pid", &s->pid }, { "--cpu_filters", &s->cpu_filters }, { "--gpu_filters", &s->gpu_filters },
		{ "--profile_region", &s->region }, { "--cluster_ip", &s->hosts } };
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
	if (row->kind == NOTED)
		fprintf(stderr, "sofa: %s has no effect: %s\n", row->name, row->option);
	for (unsigned stage = 0; row->kind == PASS && stage < 5; stage++) {
		if (!(row->stages & 1u << stage))
			continue;
		if (value)
			give(&s->stages[stage], row->option, value);
		else
			add(&s->stages[stage], row->option);
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

/* sonde WORD [options of a stage] [more...]; does not return if it is the last. */
static int run(struct sofa *s, unsigned how, const char *word, unsigned stage, const char *const *more)
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
	pid_t child = how & LAST ? 0 : fork();
	if (!child) {
		if (how & TO_STDERR)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		execv(s->sonde, (char **)(void *)line.words);
		_exit(fail("cannot run '%s': %s", s->sonde, strerror(errno)));
	}
	free(line.words);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return fail("cannot run '%s': %s", s->sonde, strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* SOFA always drew these; the others could be changed. */
#define GPU_ALWAYS "CUDA_COPY_H2D:red,CUDA_COPY_D2H:peru,CUDA_COPY_P2P:purple"
#define GPU_USUAL "_fw_:royalblue,_bw_:darkviolet,AllReduceKernel:indigo"

static int record(struct sofa *s, const char *word, unsigned how)
{
	char gpu[4096];
	snprintf(gpu, sizeof(gpu), GPU_ALWAYS ",%s", s->gpu_filters ? s->gpu_filters : GPU_USUAL);
	struct line *o = &s->stages[__builtin_ctz(RECORD)];
	give(o, "--cpu-filters", s->cpu_filters ? s->cpu_filters : "idle:black");
	give(o, "--gpu-filters", gpu);
	give(o, "--hosts", s->hosts);
	if (!s->command.count && s->pid) { /* SOFA only stored the pid */
		give(o, "--pid", s->pid);
		return run(s, how, word, RECORD, (const char *[]){ "--force", "--output", s->logdir, NULL });
	}
	if (!s->command.count)
		return fail("%s wants a command, in quotes, or --pid", s->word);
	if (s->pid)
		fprintf(stderr, "sofa: --pid has no effect beside a command; without one that process is recorded\n");
	return run(s, how, word, RECORD, (const char *[]){ "--force", "--output", s->logdir, "--", NULL });
}

static int do_record(struct sofa *s)
{
	return record(s, "record", LAST);
}

/* Without filters the page draws the groups given when the run was recorded. */
static void pass_groups(struct sofa *s)
{
	const char *cpu = s->cpu_filters, *gpu = s->gpu_filters;
	if (!cpu && !gpu)
		return;
	snprintf(s->groups, sizeof(s->groups), "%s%s%s", cpu ? cpu : "", cpu && gpu ? "," : "", gpu ? gpu : "");
	give(&s->stages[__builtin_ctz(VIEW)], "--groups", s->groups);
}

/* SOFA's region is two numbers of seconds; its filters also group the tables of the summary. */
static int pass_summary(struct sofa *s)
{
	struct line *o = &s->stages[__builtin_ctz(SUMMARY)];
	double from, to;
	char rest;
	if (s->region && sscanf(s->region, "%lf,%lf%c", &from, &to, &rest) != 2)
		return fail("--profile_region takes two times in seconds, as in 1,2.5, not '%s'", s->region);
	if (s->region) {
		snprintf(s->roi, sizeof(s->roi), "%.9fs,%.9fs", from, to);
		give(o, "--roi", s->roi);
	}
	give(o, "--cpu-filters", s->cpu_filters);
	give(o, "--gpu-filters", s->gpu_filters);
	return 0;
}

/* When the run was recorded; 0 if it does not exist. */
static int64_t made_ns(const char *dir)
{
	char path[4096];
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s/run.json", dir);
	bool is = n > 0 && (size_t)n < sizeof(path) && !stat(path, &st);
	return is ? (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : 0;
}

/* `sonde stat` has no options for the summary: if there are any, print the summary afterwards. */
static int do_stat(struct sofa *s)
{
	int64_t before_ns = made_ns(s->logdir);
	int code = pass_summary(s);
	if (code)
		return code;
	if (!s->stages[__builtin_ctz(SUMMARY)].count)
		return record(s, "stat", LAST);
	code = record(s, "record", 0);
	int64_t after_ns = made_ns(s->logdir);
	if (after_ns && after_ns != before_ns)
		run(s, TO_STDERR, "summary", SUMMARY, (const char *[]){ s->logdir, NULL });
	return code;
}

static bool is_there(const char *dir, const char *file)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/%s", dir, file);
	return n > 0 && (size_t)n < sizeof(path) && !access(path, F_OK);
}

/*
 * The run of several hosts: one recorded with --cluster_ip, or, as usual with SOFA, one log directory per host next
 * to this one (sofalog-10.0.0.1), which are joined.
 */
static int find_cluster(struct sofa *s)
{
	static char names[4096], joined[4096], dirs[HOSTS_MAX][4096];
	const char *more[HOSTS_MAX + 4] = { "--force", "--output", joined };
	int bytes = (int)strlen(s->logdir);
	size_t n = 0;
	if (!s->hosts || is_there(s->logdir, "hosts.json"))
		return 0;
	while (bytes > 1 && s->logdir[bytes - 1] == '/')
		bytes--;
	snprintf(names, sizeof(names), "%s", s->hosts);
	s->hosts = NULL; /* only once */
	for (char *at = names, *name; (name = strsep(&at, ",")); n++) {
		if (n == HOSTS_MAX)
			return fail("--cluster_ip takes %d hosts at most", HOSTS_MAX);
		snprintf(dirs[n], sizeof(dirs[n]), "%.*s-%s", bytes, s->logdir, name);
		more[n + 3] = dirs[n];
		if (!is_there(dirs[n], "run.json"))
			return fail("--cluster_ip: there is no run of %s in '%s', and '%s' is of one host; 'sofa record "
				    "--cluster_ip' or 'sonde record --hosts' records all", name, dirs[n], s->logdir);
	}
	if (n < 2) {
		s->logdir = dirs[0];
		return 0;
	}
	snprintf(joined, sizeof(joined), "%.*s-cluster", bytes, s->logdir);
	s->logdir = joined;
	return run(s, 0, "join", 0, more);
}

static int do_preprocess(struct sofa *s)
{
	int code = find_cluster(s);
	return code ? code : run(s, LAST, "preprocess", PREPARE, (const char *[]){ s->logdir, NULL });
}

static int do_analyze(struct sofa *s)
{
	int code = find_cluster(s);
	code = code ? code : pass_summary(s);
	return code ? code : run(s, LAST, "summary", SUMMARY, (const char *[]){ s->logdir, NULL });
}

static int do_viz(struct sofa *s)
{
	int code = find_cluster(s);
	pass_groups(s);
	return code ? code : run(s, LAST, "view", VIEW, (const char *[]){ s->logdir, NULL });
}

static int do_report(struct sofa *s)
{
	int code = find_cluster(s);
	code = code ? code : pass_summary(s);
	code = code ? code : run(s, 0, "preprocess", PREPARE, (const char *[]){ s->logdir, NULL });
	code = code ? code : run(s, 0, "summary", SUMMARY, (const char *[]){ s->logdir, NULL });
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
	return run(s, LAST, "diff", DIFF, (const char *[]){ s->base, s->match, NULL });
}

static int do_clean(struct sofa *s)
{
	return run(s, LAST, "clean", 0, (const char *[]){ s->logdir, NULL });
}

static const struct {
	const char *word;
	int (*run)(struct sofa *);
	const char *does;
} words[] = {
	{ "stat", do_stat, "run a command and say where its time went" },
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
