/* What a recording prints at its end; see recording.h. */
#include "cli/recording.h"
#include "result/term.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* "sonde: cpu: 1 234 events, 12 lost, 0.4 % of a CPU", or the reason and a hint. */
static void say_probe(const char *name, const char *state, const struct probe_status *p, double wall_s)
{
	char events[TERM_TEXT];
	if (p->state == PROBE_RAN) {
		fprintf(stderr, "sonde: %s: %s events", name, term_count(events, p->events));
		if (p->lost)
			fprintf(stderr, ", %llu lost", (unsigned long long)p->lost);
		fprintf(stderr, ", %.2f %% of a CPU", wall_s > 0 ? (double)p->cpu_ns / 1e7 / wall_s : 0.0);
		fprintf(stderr, "%s%s\n", p->why.text[0] ? "; " : "", p->why.text);
	} else if (p->state == PROBE_OFF && p->ops->option) {
		fprintf(stderr, "sonde: %s: off (%s switches it on)\n", name, p->ops->option);
	} else {
		fprintf(stderr, "sonde: %s: %s%s%s\n", name, state, p->why.text[0] ? ": " : "", p->why.text);
	}
}

/* Prints each distinct hint once. */
static void say_hints(const struct record_result *r)
{
	for (size_t i = 0; i < r->probe_count; i++) {
		bool was_said = !r->probes[i].why.hint[0];
		for (size_t k = 0; k < i; k++)
			was_said |= !strcmp(r->probes[k].why.hint, r->probes[i].why.hint);
		if (!was_said)
			fprintf(stderr, "hint: %s\n", r->probes[i].why.hint);
	}
}

static void say_trace(const struct record_result *r)
{
	char events[TERM_TEXT];
	if (strcmp(r->trace_state, "ran") != 0)
		fprintf(stderr, "sonde: trace: %s%s%s\n", r->trace_state, r->trace_why.text[0] ? ": " : "",
				r->trace_why.text);
	else
		fprintf(stderr, "sonde: trace: %s events of %llu process%s%s%s\n", term_count(events, r->events),
				(unsigned long long)r->processes, r->processes == 1 ? "" : "es",
				r->trace_why.text[0] ? "; " : "", r->trace_why.text);
	if (r->dropped)
		fprintf(stderr,
				"sonde: %llu events were dropped\nhint: try more --memory and --process-memory, or "
				"--overflow block\n",
				(unsigned long long)r->dropped);
	if (r->filtered)
		fprintf(stderr, "sonde: %llu events were filtered\n", (unsigned long long)r->filtered);
	if (r->untraced)
		fprintf(stderr, "sonde: %llu processes could not be traced\nhint: sonde info says which\n",
				(unsigned long long)r->untraced);
}

static void say_oom(const struct record_result *r)
{
	char bytes[TERM_TEXT];
	bool is_limited = r->memory_max_bytes > 0;
	if (r->oom_kills <= 0)
		return;
	fprintf(stderr, "sonde: %s killed by the out-of-memory killer",
			WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGKILL ? "the program was"
										 : "processes of the program were");
	if (is_limited)
		fprintf(stderr, " (limit %s)", term_bytes(bytes, r->memory_max_bytes));
	fprintf(stderr, "\n");
}

void recording_say(const struct record_result *r)
{
	char events[TERM_TEXT], bytes[TERM_TEXT];
	uint64_t all = r->events;
	for (size_t i = 0; i < r->probe_count; i++)
		all += r->probes[i].events;
	fprintf(stderr, "sonde: recorded %s events of %llu process%s in %s (%s)\n", term_count(events, all),
			(unsigned long long)r->processes, r->processes == 1 ? "" : "es", r->path.data,
			term_bytes(bytes, r->bytes));
	say_oom(r);
	say_trace(r);
	for (size_t i = 0; i < r->probe_count; i++)
		say_probe(r->probes[i].ops->name, probe_state_words[r->probes[i].state], &r->probes[i],
				(double)r->wall_ns / 1e9);
	say_hints(r);
}
