#include "live/rules/action.h"

#include "base/shell-words.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct words {
	struct action *to;
	char **at; /* the next word */
	bool is_range;
	struct arena *arena;
	struct sonde_err *err;
};

static int parse_app(struct words *w)
{
	w->to->app = *w->at;
	return 0;
}

static int parse_name(struct words *w)
{
	w->to->name = *w->at;
	return 0;
}

/* Parses a number, optionally with a size unit. */
static bool parse_amount(const char *text, double *value)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;

	*value = strtod(text, &end);
	if (end == text || !isfinite(*value))
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		*value *= exp2(10.0 * (double)(unit - units + 1));
		end += strncmp(end + 1, "iB", 2) == 0 ? 3 : 1;
	}
	return !*end;
}

static bool parse_range(struct words *w, double *rest, double *full)
{
	const char *dots = strstr(*w->at, "..");
	const char *first = dots ? arena_copy(w->arena, *w->at, (size_t)(dots - *w->at)) : NULL;

	return first && parse_amount(first, rest) && parse_amount(dots + 2, full);
}

static const struct {
	double low, high;
	const char *what;
} bounds[ACTION_KINDS] = {
	[ACTION_WEIGHT] = { 1, 10000, "a weight must be from 1 to 10000" },
	[ACTION_IO] = { 1, 10000, "a weight must be from 1 to 10000" },
	[ACTION_HIGH] = { 1048576, 1e18, "memory must be at least 1M" },
	[ACTION_CAP] = { 0.01, 4096, "a cap must be from 0.01 to 4096 CPUs" },
	[ACTION_MEMORY] = { 1048576, 1e18, "memory must be at least 1M" },
	[ACTION_PIDS] = { 1, 4194304, "pids must be from 1 to 4194304" },
	[ACTION_KNOB] = { -INFINITY, INFINITY, "" },
};

static int check_bounds(struct words *w, double value)
{
	enum action_kind kind = w->to->kind;

	return value >= bounds[kind].low && value <= bounds[kind].high
			? 0
			: err_set(w->err, EINVAL, "%s, not %s", bounds[kind].what, *w->at);
}

static int parse_value(struct words *w)
{
	struct action *a = w->to;
	int rc;

	if (!w->is_range) {
		if (!parse_amount(*w->at, &a->value))
			return err_set(w->err, EINVAL, "invalid number '%s'", *w->at);
		return check_bounds(w, a->value);
	}
	if (!parse_range(w, &a->rest, &a->full))
		return err_set(w->err, EINVAL, "invalid range '%s' (expected rest..full, such as 100..3000)", *w->at);
	rc = check_bounds(w, a->rest);
	if (rc == 0)
		rc = check_bounds(w, a->full);
	if (rc == 0 && a->rest == a->full)
		rc = err_set(w->err, EINVAL, "empty range '%s'", *w->at);
	return rc;
}

static int parse_setting(struct words *w)
{
	char *end;

	if (w->is_range || (strtod(*w->at, &end), end != *w->at && !*end))
		return parse_value(w);
	w->to->choice = *w->at;
	w->to->value = NAN;
	return 0;
}

static int parse_signal(struct words *w)
{
	static const struct {
		const char *name;
		int number;
	} all[] = { { "HUP", SIGHUP }, { "INT", SIGINT }, { "TERM", SIGTERM }, { "KILL", SIGKILL }, { "USR1", SIGUSR1 },
		{ "USR2", SIGUSR2 }, { "STOP", SIGSTOP }, { "CONT", SIGCONT }, { "QUIT", SIGQUIT },
		{ "WINCH", SIGWINCH } };
	const char *name = strncmp(*w->at, "SIG", 3) == 0 ? *w->at + 3 : *w->at;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i].name, name) == 0) {
			w->to->signal = all[i].number;
			return 0;
		}
	return err_set(w->err, EINVAL, "unsupported signal '%s'", *w->at);
}

static int parse_url(struct words *w)
{
	if (strncmp(*w->at, "http://", 7) != 0 && strncmp(*w->at, "https://", 8) != 0)
		return err_set(w->err, EINVAL, "invalid URL '%s' (expected http:// or https://)", *w->at);
	return parse_name(w);
}

static int parse_broker(struct words *w)
{
	const char *colon = strrchr(*w->at, ':');
	char *end = NULL;
	unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 1883;

	if (colon == *w->at || **w->at == '-' || (colon && (end == colon + 1 || *end)) || port < 1 || port > 65535)
		return err_set(w->err, EINVAL, "invalid address '%s' (expected HOST:PORT)", *w->at);
	w->to->port = (unsigned)port;
	w->to->host = colon ? arena_copy(w->arena, *w->at, (size_t)(colon - *w->at)) : *w->at;
	return w->to->host ? 0 : err_sys(w->err, ENOMEM, "cannot parse the action");
}

static int parse_topic(struct words *w)
{
	if (strpbrk(*w->at, "+#") || strlen(*w->at) > 1024)
		return err_set(w->err, EINVAL, "invalid topic '%s'", *w->at);
	return parse_name(w);
}

static int parse_qos(struct words *w)
{
	if (strcmp(*w->at, "0") != 0 && strcmp(*w->at, "1") != 0)
		return err_set(w->err, EINVAL, "invalid QoS '%s' (supported: 0, 1)", *w->at);
	w->to->qos = **w->at - '0';
	return 0;
}

struct form {
	const char *word;
	int (*takes[3])(struct words *);
	size_t least, most; /* words after the first */
	bool has_rest;      /* all words are its argv */
	bool has_range;     /* a regulator can use it */
};

static const struct form forms[ACTION_KINDS] = {
	[ACTION_WEIGHT] = { "weight", { parse_app, parse_value }, 2, 2, false, true },
	[ACTION_IO] = { "io", { parse_app, parse_value }, 2, 2, false, true },
	[ACTION_HIGH] = { "high", { parse_app, parse_value }, 2, 2, false, true },
	[ACTION_CAP] = { "cap", { parse_app, parse_value }, 2, 2, false, true },
	[ACTION_MEMORY] = { "memory", { parse_app, parse_value }, 2, 2, false, true },
	[ACTION_PIDS] = { "pids", { parse_app, parse_value }, 2, 2, false, false },
	[ACTION_KNOB] = { "knob", { parse_app, parse_name, parse_setting }, 3, 3, false, true },
	[ACTION_FREEZE] = { "freeze", { parse_app }, 1, 1, false, false },
	[ACTION_THAW] = { "thaw", { parse_app }, 1, 1, false, false },
	[ACTION_SIGNAL] = { "signal", { parse_app, parse_signal }, 2, 2, false, false },
	[ACTION_END] = { "end", { parse_app }, 1, 1, false, false },
	[ACTION_EXEC] = { "exec", { parse_name }, 1, 64, true, false },
	[ACTION_WEBHOOK] = { "webhook", { parse_url }, 1, 1, false, false },
	[ACTION_MQTT] = { "mqtt", { parse_broker, parse_topic, parse_qos }, 2, 3, false, false },
	[ACTION_REPORT] = { "report", { parse_name }, 1, 64, true, false },
};

const char *action_word(enum action_kind kind)
{
	return forms[kind].word;
}

int action_parse(struct action *a, const char *text, bool is_range, struct arena *arena, struct sonde_err *err)
{
	struct words w = { .to = a, .is_range = is_range, .arena = arena, .err = err };
	char **argv = NULL;
	size_t n = 0, kind = 0;
	int rc = words_split(text, arena, &argv, err);

	if (rc < 0)
		return rc;
	if (!argv[0])
		return err_set(err, EINVAL, "empty action");
	while (argv[n])
		n++;
	while (kind < ACTION_KINDS && strcmp(forms[kind].word, argv[0]) != 0)
		kind++;
	if (kind == ACTION_KINDS) {
		const char *names[ACTION_KINDS + 1] = { NULL }, *nearest;

		for (size_t i = 0; i < ACTION_KINDS; i++)
			names[i] = forms[i].word;
		nearest = words_nearest(argv[0], names);
		err_set(err, EINVAL, "unknown action '%s'", argv[0]);
		if (nearest)
			err_hint(err, "did you mean '%s'?", nearest);
		return -EINVAL;
	}
	if (n - 1 < forms[kind].least || n - 1 > forms[kind].most)
		return err_set(err, EINVAL, "'%s' needs %zu arguments, not %zu", argv[0], forms[kind].least, n - 1);
	if (is_range && !forms[kind].has_range)
		return err_set(err, EINVAL, "a regulator cannot use '%s': it has no range", argv[0]);
	*a = (struct action){ .kind = (enum action_kind)kind, .text = arena_strdup(arena, text), .argv = argv + 1 };
	for (size_t i = 0; i < 3 && i < n - 1 && forms[kind].takes[i] && rc == 0; i++) {
		w.at = argv + 1 + i;
		rc = forms[kind].takes[i](&w);
	}
	return rc == 0 && !a->text ? err_sys(err, ENOMEM, "cannot parse the action") : rc;
}

double action_value(const struct action *a, double effort)
{
	if (effort <= 0)
		return a->rest;
	if (effort >= 1)
		return a->full;
	if (a->kind == ACTION_KNOB)
		return a->rest + effort * (a->full - a->rest);
	return a->rest * pow(a->full / a->rest, effort);
}

#define FULL 0.999

double regulator_shortfall(const struct regulator_settings *s, double measure)
{
	double short_by = s->is_upper ? measure - s->target : s->target - measure;

	return short_by / fabs(s->target);
}

const char *regulator_event_word(enum regulator_event event)
{
	static const char *const words[] = { "same", "moved", "escalated", "saturated", "recovered" };

	return words[event];
}

static double clamp(double effort)
{
	return effort < 0 ? 0 : effort > 1 ? 1 : effort;
}

/* Anti-windup: the integral stops where the effort is clamped. */
static double by_pi(struct regulator *r, const struct regulator_settings *s, double shortfall, double seconds)
{
	double integral = r->integral + s->integral * shortfall * seconds;
	double effort = s->proportional * shortfall + integral;

	if ((effort <= 1 || shortfall < 0) && (effort >= 0 || shortfall > 0))
		r->integral = integral;
	return clamp(s->proportional * shortfall + r->integral);
}

static double next_effort(struct regulator *r, const struct regulator_settings *s, size_t rung, double shortfall,
		double seconds)
{
	double now = r->efforts[rung];

	switch (s->method) {
	case REGULATOR_PI:
		return by_pi(r, s, shortfall, seconds);
	case REGULATOR_THRESHOLD:
		return shortfall > 0;
	case REGULATOR_AIMD:
		break;
	}
	return clamp(shortfall > 0 ? now + s->raise : now - s->lower);
}

static void enter(struct regulator *r, size_t rung, double shortfall)
{
	r->rung = rung;
	r->entry[rung] = shortfall;
	r->integral = r->efforts[rung];
	r->full_ns = 0;
}

static enum regulator_event raise_effort(struct regulator *r, const struct regulator_settings *s, double shortfall,
		double seconds, int64_t now_ns)
{
	double before = r->efforts[r->rung];

	if (before <= 0 && !r->full_ns)
		r->entry[r->rung] = shortfall;
	r->efforts[r->rung] = next_effort(r, s, r->rung, shortfall, seconds);
	if (r->efforts[r->rung] < FULL) {
		r->full_ns = 0;
		return r->efforts[r->rung] != before ? REGULATOR_MOVED : REGULATOR_SAME;
	}
	r->efforts[r->rung] = 1;
	if (!r->full_ns)
		r->full_ns = now_ns;
	if (now_ns - r->full_ns >= s->saturation_ns) {
		/* The level was at full effort for `saturation_ns` without reaching the target. */
		if (r->entry[r->rung] - shortfall < s->response)
			r->efforts[r->rung] = 0;
		if (r->rung + 1 < s->rung_count) {
			enter(r, r->rung + 1, shortfall);
			return REGULATOR_ESCALATED;
		}
		r->is_saturated = true;
		r->retry_ns = now_ns + s->retry_ns;
		return REGULATOR_SATURATED;
	}
	return before < 1 ? REGULATOR_MOVED : REGULATOR_SAME;
}

/* All rungs are saturated: wait until the retry time, or until the target is reached without us. */
static bool is_waiting(struct regulator *r, const struct regulator_settings *s, double shortfall, int64_t now_ns)
{
	size_t rung = 0;

	if (shortfall > 0 && now_ns < r->retry_ns)
		return true;
	r->is_saturated = false;
	while (rung + 1 < s->rung_count && r->efforts[rung] >= FULL)
		rung++;
	enter(r, rung, shortfall);
	return false;
}

enum regulator_event regulator_step(struct regulator *r, const struct regulator_settings *s, double measure,
		int64_t now_ns)
{
	double shortfall = regulator_shortfall(s, measure);
	double seconds = r->last_ns ? (double)(now_ns - r->last_ns) / 1e9 : 0;
	bool was_saturated = r->is_saturated;

	r->last_ns = now_ns;
	if (was_saturated && is_waiting(r, s, shortfall, now_ns))
		return REGULATOR_SAME;
	if (was_saturated && shortfall <= 0)
		return REGULATOR_RECOVERED;
	if (shortfall > 0)
		return raise_effort(r, s, shortfall, seconds, now_ns);
	if (shortfall < -s->band) {
		double before;

		r->full_ns = 0;
		while (r->rung > 0 && r->efforts[r->rung] <= 0)
			enter(r, r->rung - 1, r->entry[r->rung - 1]);
		before = r->efforts[r->rung];
		r->efforts[r->rung] = next_effort(r, s, r->rung, shortfall + s->band, seconds);
		return r->efforts[r->rung] != before ? REGULATOR_MOVED : REGULATOR_SAME;
	}
	r->full_ns = 0;
	return REGULATOR_SAME;
}
