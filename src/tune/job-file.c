#include "tune/job-file.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "config/config.h"
#include "tune/study.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const mode_words[] = { [TRAIN_TUNE] = "tune", [TRAIN_FIXED] = "fixed", NULL };

static int parse_params(struct config_reader *r, yaml_node_t *list, void *into)
{
	return tune_parse_params(r, list, &((struct train_plan *)into)->study);
}

/* Constraints refer to parameters that may follow them in the file. */
static int parse_constraints_later(struct config_reader *r, yaml_node_t *node, void *into)
{
	r->context = node;
	return 0;
}

static int parse_finish(struct config_reader *r, yaml_node_t *node, void *into)
{
	const char *name = config_text(node);
	int rule = name ? train_finish_find(name) : -1;

	if (rule < 0)
		return config_error(r, node, "'finish' must be average, all, once or most");
	((struct train_plan *)into)->finish = (enum train_finish_rule)rule;
	return 0;
}

static int parse_curve(struct config_reader *r, yaml_node_t *node, void *into)
{
	const char *name = config_text(node);
	struct train_plan *plan = into;

	plan->curve = name ? stats_curve_find(name) : NULL;
	if (plan->curve || (name && strcmp(name, "ensemble") == 0))
		return 0;
	return config_error(r, node, "'curve' must be ensemble, selftf, optimus, exponential or power");
}

static int parse_method(struct config_reader *r, yaml_node_t *node, void *into)
{
	const char *name = config_text(node);
	struct train_plan *plan = into;

	plan->study.method = name ? tune_method_find(name) : NULL;
	return plan->study.method ? 0 : config_error(r, node, "'method' must be gp, tpe, selftf, sobol or random");
}

static int parse_settings(struct config_reader *r, yaml_node_t *map, void *into)
{
	struct train_plan *plan = into;

	if (map->type != YAML_MAPPING_NODE)
		return config_error(r, map, "'settings' must map names to values (name: value)");
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		yaml_node_t *name = yaml_document_get_node(r->document, p->key);
		yaml_node_t *value = yaml_document_get_node(r->document, p->value);
		struct train_setting *s = &plan->settings[plan->setting_count];
		double number;

		if (plan->setting_count == TRAIN_SETTINGS_MAX)
			return config_error(r, name, "too many settings (maximum %d)", TRAIN_SETTINGS_MAX);
		if (!config_text(name) || !config_text(value))
			return config_error(r, name, "a setting needs a name and a value");
		s->name = arena_strdup(r->arena, config_text(name));
		s->text = arena_strdup(r->arena, config_text(value));
		s->is_number = config_number(value, &number) && isfinite(number);
		if (!s->name || !s->text)
			return err_sys(r->err, ENOMEM, "cannot read '%s'", r->path);
		plan->setting_count++;
	}
	return 0;
}

static const struct config_key plan_keys[] = {
	{ "name", CONFIG_TEXT, offsetof(struct train_plan, name) },
	{ "command", CONFIG_LIST, offsetof(struct train_plan, command) },
	{ "params", CONFIG_OTHER, .take = parse_params },
	{ "constraints", CONFIG_OTHER, .take = parse_constraints_later },
	{ "settings", CONFIG_OTHER, .take = parse_settings },
	{ "mode", CONFIG_WORD, offsetof(struct train_plan, mode), .words = mode_words },
	{ "target_loss", CONFIG_REAL, offsetof(struct train_plan, target_loss) },
	{ "finish", CONFIG_OTHER, .take = parse_finish },
	{ "window", CONFIG_WHOLE, offsetof(struct train_plan, window), .min = 1 },
	{ "curve", CONFIG_OTHER, .take = parse_curve },
	{ "explore", CONFIG_WHOLE, offsetof(struct train_plan, explore), .min = 1 },
	{ "iterations", CONFIG_WHOLE, offsetof(struct train_plan, iterations), .min = 1 },
	{ "online_iterations", CONFIG_WHOLE, offsetof(struct train_plan, online_iterations), .min = 1 },
	{ "confidence", CONFIG_REAL, offsetof(struct train_plan, confidence) },
	{ "moving_share", CONFIG_REAL, offsetof(struct train_plan, moving_share) },
	{ "method", CONFIG_OTHER, .take = parse_method },
	{ "timeout", CONFIG_DURATION, offsetof(struct train_plan, timeout_ns) },
	{ "seed", CONFIG_WHOLE, offsetof(struct train_plan, seed), .min = 0 },
	{ NULL },
};

_Static_assert(sizeof(enum train_mode) == sizeof(int), "CONFIG_WORD writes an int");

struct plan_reader {
	struct config_reader reader; /* must be first: callbacks of the key tables get it */
	struct train_plan *plan;
};

static int parse_document(struct config_reader *r, yaml_node_t *root)
{
	struct train_plan *plan = ((struct plan_reader *)r)->plan;
	int rc = config_take_map(r, root, plan_keys, NULL, plan);

	if (rc < 0)
		return rc;
	if (!plan->study.space.count)
		return config_error(r, root, "the job has no 'params'");
	if (plan->window > TRAIN_WINDOW_MAX)
		return config_error(r, root, "'window' must be at most %d", TRAIN_WINDOW_MAX);
	if (!(plan->confidence >= 0))
		return config_error(r, root, "'confidence' must be 0 or more standard deviations");
	if (!(plan->moving_share >= 0))
		return config_error(r, root, "'moving_share' must be 0 or more");
	return r->context ? tune_parse_constraints(r, r->context, &plan->study.space) : 0;
}

/* "a/b/cnn.yml" is "cnn". */
static const char *name_of(const char *path, struct arena *arena)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');

	return arena_copy(arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

int train_plan_parse(struct train_plan *plan, const char *path, const char *text, size_t size, struct arena *arena,
		struct sonde_err *err)
{
	struct sonde_err ignored;
	struct plan_reader p = {
		.reader = { .path = path, .arena = arena, .err = err ? err : &ignored, .what = "a training job" },
		.plan = plan,
	};

	*plan = (struct train_plan){ .path = path,
		.name = name_of(path, arena),
		.target_loss = NAN,
		.explore = 8,
		.iterations = 60,
		.online_iterations = 100,
		.confidence = 1,
		.moving_share = 0.1 };
	plan->study.path = path;
	return config_parse(&p.reader, text, size, parse_document);
}

int train_plan_load(struct train_plan *plan, const char *path, struct arena *arena, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, path, CONFIG_BYTES_MAX, &text, err);

	return rc < 0 ? rc : train_plan_parse(plan, path, text.data, text.len, arena, err);
}

enum { WINDOW_MIN = 5 };

void train_finish_init(struct train_finish *f, enum train_finish_rule rule, double target, size_t window)
{
	memset(f, 0, sizeof(*f));
	f->rule = rule;
	f->target = target;
	f->window = window < TRAIN_WINDOW_MAX ? window : TRAIN_WINDOW_MAX;
}

void train_finish_add(struct train_finish *f, unsigned worker, double loss)
{
	f->recent[f->reports++ % TRAIN_WINDOW_MAX] = loss;
	f->since_change++;
	if (worker >= TRAIN_WORKERS_MAX)
		return;
	f->here += !f->workers[worker].is_here;
	f->workers[worker].is_here = true;
	f->workers[worker].last = loss;
	f->workers[worker].has_reached |= loss <= f->target;
}

void train_finish_change(struct train_finish *f)
{
	f->since_change = f->here = 0;
	for (size_t i = 0; i < TRAIN_WORKERS_MAX; i++)
		f->workers[i].is_here = false;
}

size_t train_finish_workers(const struct train_finish *f)
{
	return f->here;
}

static bool average(const struct train_finish *f)
{
	size_t workers = train_finish_workers(f);
	size_t window = f->window ? f->window : workers > WINDOW_MIN ? workers : WINDOW_MIN;
	double sum = 0;

	if (f->reports < window)
		return false;
	for (size_t i = f->reports - window; i < f->reports; i++)
		sum += f->recent[i % TRAIN_WINDOW_MAX];
	return sum / (double)window <= f->target; /* false if one is NaN */
}

/* The fraction of workers for which it holds; 0 until there were two reports per worker since the change. */
static double part(const struct train_finish *f,
		bool (*is_so)(const struct train_finish *, const struct train_worker *))
{
	size_t workers = train_finish_workers(f), so = 0;

	if (!workers || f->since_change < 2 * workers)
		return 0;
	for (size_t i = 0; i < TRAIN_WORKERS_MAX; i++)
		so += f->workers[i].is_here && is_so(f, &f->workers[i]);
	return (double)so / (double)workers;
}

static bool is_there(const struct train_finish *f, const struct train_worker *w)
{
	return w->last <= f->target;
}

static bool was_there(const struct train_finish *f, const struct train_worker *w)
{
	return w->has_reached;
}

static bool all(const struct train_finish *f)
{
	return part(f, is_there) >= 1;
}

static bool once(const struct train_finish *f)
{
	return part(f, was_there) >= 1;
}

static bool most(const struct train_finish *f)
{
	return part(f, was_there) >= 0.9;
}

static const struct {
	const char *name;
	bool (*is_reached)(const struct train_finish *f);
} rules[] = {
	[TRAIN_FINISH_AVERAGE] = { "average", average },
	[TRAIN_FINISH_ALL] = { "all", all },
	[TRAIN_FINISH_ONCE] = { "once", once },
	[TRAIN_FINISH_MOST] = { "most", most },
};

int train_finish_find(const char *name)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (strcmp(rules[i].name, name) == 0)
			return (int)i;
	return -1;
}

bool train_finish_is_reached(const struct train_finish *f)
{
	return !isnan(f->target) && rules[f->rule].is_reached(f);
}
