/*
 * A run as text: what ran, what was recorded, where time and bytes went, and what is missing.
 */
#include <jansson.h>

#include "base/cleanup.h"
#include "base/shell-words.h"
#include "cli/info.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LABEL_COLUMNS 11

/* "program tar -czf x.tgz src": text is untrusted. */
static void add_line(struct info_page *p, const char *label, const char *text)
{
	char padded[LABEL_COLUMNS + 1];

	snprintf(padded, sizeof(padded), "%-*s", LABEL_COLUMNS, label);
	term_add(p->out, p->term, TERM_BOLD, padded);
	term_safe(p->out, text);
	buf_addc(p->out, '\n');
}

void info_add_heading(struct info_page *p, const char *text)
{
	buf_addc(p->out, '\n');
	term_add(p->out, p->term, TERM_BOLD, text);
	buf_addc(p->out, '\n');
}

/* Quotes arguments for a shell. */
static void join(struct buf *out, const json_t *argv)
{
	for (size_t i = 0; i < json_array_size(argv); i++) {
		const char *word = json_string_value(json_array_get(argv, i));

		buf_adds(out, i ? " " : "");
		words_quote(out, word ? word : "?");
	}
}

static void add_program(struct info_page *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *cwd = model_run_str(p->info->run, "cwd");

	join(&text, json_object_get(model_run_json(p->info->run), "argv"));
	if (!text.len && p->info->process_count)
		info_command(&text, p->info, p->info->processes[0].process);
	if (!text.len)
		buf_adds(&text, "not known");
	add_line(p, "program", text.data);
	if (cwd)
		add_line(p, "in", cwd);
}

static void add_when(struct info_page *p)
{
	int64_t real_ns = model_run_int(p->info->run, "clock.start_real_ns");
	time_t seconds = (time_t)(real_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (real_ns == STORE_NULL || !localtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%F %T %Z", &tm))
		add_line(p, "when", "not known");
	else
		add_line(p, "when", text);
}

static void add_host(struct info_page *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct model_run *run = p->info->run;
	int64_t cpus = model_run_int(run, "host.cpus"), memory = model_run_int(run, "host.memory_bytes");
	const char *name = model_run_str(run, "host.name"), *kernel = model_run_str(run, "host.kernel");
	const char *machine = model_run_str(run, "host.machine");
	char bytes[TERM_TEXT];

	buf_adds(&text, name ? name : "not known");
	if (kernel)
		buf_addf(&text, ", Linux %s", kernel);
	if (machine)
		buf_addf(&text, ", %s", machine);
	if (cpus > 0)
		buf_addf(&text, ", %" PRId64 " CPU%s", cpus, cpus == 1 ? "" : "s");
	if (memory > 0)
		buf_addf(&text, ", %s", term_bytes(bytes, (uint64_t)memory));
	add_line(p, "host", text.data);
}

void info_exit_words(struct buf *out, int64_t code, int64_t signal)
{
	const char *name = signal > 0 && signal < 128 ? sigabbrev_np((int)signal) : NULL;

	if (code != STORE_NULL)
		buf_addf(out, "exit %" PRId64, code);
	else if (name)
		buf_addf(out, "SIG%s", name);
	else if (signal != STORE_NULL)
		buf_addf(out, "signal %" PRId64, signal);
}

/* Whether the OOM killer sent the SIGKILL, or killed other processes of the program. */
static void add_oom(struct buf *out, const struct model_run *run, int64_t signal)
{
	int64_t kills = model_run_int(run, "exit.oom_kills"), limit = model_run_int(run, "exit.memory_max_bytes");
	char bytes[TERM_TEXT];

	if (kills == STORE_NULL)
		return;
	if (signal == SIGKILL)
		buf_adds(out, " of the out-of-memory killer");
	else
		buf_addf(out, ", %" PRId64 " of its processes killed by the out-of-memory killer", kills);
	if (limit != STORE_NULL)
		buf_addf(out, " (limit %s)", term_bytes(bytes, (uint64_t)limit));
}

static void add_end(struct info_page *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct model_run *run = p->info->run;
	int64_t code = model_run_int(run, "exit.code"), signal = model_run_int(run, "exit.signal");
	int64_t wall_ns = model_run_int(run, "wall_ns");
	char took[TERM_TEXT];

	if (signal != STORE_NULL)
		buf_adds(&text, "killed by ");
	info_exit_words(&text, code, signal);
	add_oom(&text, run, signal);
	if (!text.len)
		buf_adds(&text, model_run_is_unfinished(run) ? "not yet, or its recorder died" : "not known");
	if (wall_ns != STORE_NULL)
		buf_addf(&text, ", after %s", term_ns(took, wall_ns));
	add_line(p, "ended", text.data);
}

static void add_clock(struct info_page *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const struct model_run *run = p->info->run;
	const char *id = model_run_str(run, "clock.id"), *source = model_run_str(run, "clock.source");
	double error_ns = model_run_real(run, "clock.error_ns");

	buf_adds(&text, id ? id : "not known");
	if (source)
		buf_addf(&text, ", read from %s", source);
	if (!isnan(error_ns))
		buf_addf(&text, ", within %.3g ns", error_ns);
	add_line(p, "clock", text.data);
}

/* The result of a probe: its state, the reason, and its counters; a zero is printed for events only. */
static void add_probe(struct info_page *p, json_t *probe)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *name = json_string_value(json_object_get(probe, "name"));
	const char *state = json_string_value(json_object_get(probe, "state"));
	const char *reason = json_string_value(json_object_get(probe, "reason"));

	buf_addf(&text, "%s %s", name ? name : "?", state ? state : "?");
	if (reason)
		buf_addf(&text, ": %s", reason);
	for (void *at = json_object_iter(probe); at; at = json_object_iter_next(probe, at)) {
		const char *key = json_object_iter_key(at);
		const json_t *value = json_object_iter_value(at);

		if (json_integer_value(value) || (json_is_integer(value) && strcmp(key, "events") == 0))
			buf_addf(&text, ", %s %" JSON_INTEGER_FORMAT, key, json_integer_value(value));
	}
	for (char *c = text.data; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	add_line(p, "probe", text.data);
}

static void add_probes(struct info_page *p)
{
	const json_t *probes = json_object_get(model_run_json(p->info->run), "probes");

	for (size_t i = 0; i < json_array_size(probes); i++)
		add_probe(p, json_array_get(probes, i));
}

static void add_losses(struct info_page *p)
{
	const struct info *info = p->info;

	info_add_heading(p, "Missing");
	if (!info->loss_count)
		buf_adds(p->out, "nothing that is known of\n");
	for (size_t i = 0; i < info->loss_count; i++) {
		CLEANUP(buf_release) struct buf safe = BUF_INIT;

		term_safe(&safe, info->losses[i]);
		buf_addf(p->out, "%s\n", safe.data);
	}
}

int info_write_text(const struct info *info, struct buf *out, const struct term *term)
{
	struct info_page page = { .info = info, .out = out, .term = term };

	add_line(&page, "run", model_run_path(info->run));
	add_program(&page);
	add_when(&page);
	add_host(&page);
	add_end(&page);
	add_clock(&page);
	add_probes(&page);
	info_add_lists(&page);
	add_losses(&page);
	return page.error ? page.error : buf_error(out);
}
