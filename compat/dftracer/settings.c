#include "settings.h"

#include "yaml.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind { BOOL, NOT, NUMBER, CHOICE, TEXT, LIST };

struct choice {
	const char *word;
	int64_t value;
};

static const struct choice modes[] = { { "FUNCTION", INIT_FUNCTION }, { "PRELOAD", INIT_PRELOAD },
	{ NULL, INIT_NONE } };
static const struct choice levels[] = { { "ERROR", LEVEL_ERROR }, { "WARN", LEVEL_WARN }, { "INFO", LEVEL_INFO },
	{ "DEBUG", LEVEL_DEBUG }, { NULL, LEVEL_SILENT } };
static const struct choice metrics[] = { { "US", METRIC_US }, { "NS", METRIC_NS }, { "MS", METRIC_MS },
	{ "SEC", METRIC_SEC }, { NULL, METRIC_US } };
static const struct choice aggregations[] = { { "FULL", AGGREGATE_FULL }, { "SELECTIVE", AGGREGATE_SELECTIVE },
	{ NULL, AGGREGATE_FULL } };
static const struct choice formats[] = { { "C", 'C' }, { "D", 'D' }, { "E", 'E' }, { NULL, 'C' } };

/* One row per setting: its variable, its keys (`tracer.` was once `profiler.`) and its destination. */
struct row {
	const char *variable;
	const char *key;
	enum kind kind;
	size_t at;
	size_t room; /* for texts */
	const struct choice *choices;
};

#define AT(field) offsetof(struct settings, field)
#define ROOM(field) sizeof(((struct settings *)0)->field)

static const struct row rows[] = {
	{ "SONDE_DFTRACER_STRICT", NULL, BOOL, AT(is_strict) },
	{ "DFTRACER_FORMAT", "tracer.format", CHOICE, AT(format), .choices = formats },
	{ "DFTRACER_ENABLE", "enable", BOOL, AT(is_enabled) },
	{ "DFTRACER_INIT", "tracer.init", CHOICE, AT(init), .choices = modes },
	{ "DFTRACER_LOG_FILE", "tracer.log_file", TEXT, AT(log_file), ROOM(log_file) },
	{ "DFTRACER_DATA_DIR", "tracer.data_dirs", LIST, AT(data_dirs), ROOM(data_dirs) },
	{ "DFTRACER_LOG_LEVEL", "tracer.log_level", CHOICE, AT(log_level), .choices = levels },
	{ "DFTRACER_TRACE_COMPRESSION", "tracer.compression", BOOL, AT(has_compression) },
	{ "DFTRACER_TRACE_INTERVAL_MS", "tracer.interval", NUMBER, AT(interval_ms) },
	{ "DFTRACER_TIME_METRIC", "tracer.time_metric", CHOICE, AT(time_metric), .choices = metrics },
	{ "DFTRACER_GOTCHA_PRIORITY", "gotcha.priority", NUMBER, AT(gotcha_priority) },
	{ "DFTRACER_INC_METADATA", "features.metadata", BOOL, AT(has_metadata) },
	{ "DFTRACER_SET_CORE_AFFINITY", "features.core_affinity", BOOL, AT(has_core_affinity) },
	{ NULL, "features.enable", BOOL, AT(has_features) },
	{ "DFTRACER_DISABLE_IO", NULL, NOT, AT(has_io) },
	{ NULL, "features.io.enable", BOOL, AT(has_io) },
	{ "DFTRACER_DISABLE_POSIX", NULL, NOT, AT(has_posix) },
	{ NULL, "features.io.posix", BOOL, AT(has_posix) },
	{ "DFTRACER_DISABLE_STDIO", NULL, NOT, AT(has_stdio) },
	{ NULL, "features.io.stdio", BOOL, AT(has_stdio) },
	{ "DFTRACER_DISABLE_TIDS", NULL, NOT, AT(has_tids) },
	{ NULL, "features.tid", BOOL, AT(has_tids) },
	{ "DFTRACER_ENABLE_AGGREGATION", "features.aggregation.enable", BOOL, AT(is_aggregating) },
	{ "DFTRACER_AGGREGATION_TYPE", "features.aggregation.type", CHOICE, AT(aggregation), .choices = aggregations },
	{ "DFTRACER_AGGREGATION_FILE", "features.aggregation.file", TEXT, AT(aggregation_file),
			ROOM(aggregation_file) },
	{ "DFTRACER_BIND_SIGNALS", "internal.bind_signals", BOOL, AT(binds_signals) },
	{ "DFTRACER_ERROR", "internal.throw_error", BOOL, AT(throws_error) },
	{ "DFTRACER_WRITE_BUFFER_SIZE", "internal.write_buffer_size", NUMBER, AT(buffer_bytes) },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static bool is_true(const struct settings *s, const char *text)
{
	if (!strcmp(text, "1"))
		return true;
	return s->is_strict != 1 && (!strcasecmp(text, "true") || !strcasecmp(text, "on") || !strcasecmp(text, "yes"));
}

static int64_t number(const char *text)
{
	int64_t v = 0;
	for (; *text >= '0' && *text <= '9' && v < (int64_t)1 << 50; text++)
		v = v * 10 + *text - '0';
	return v;
}

/* Lists are appended to item by item. */
static void set_text(char *to, size_t room, const char *text, bool is_added)
{
	size_t have = is_added ? strlen(to) : 0, n = strlen(text);
	if (have + n + 2 > room)
		return;
	if (have)
		to[have++] = ':';
	memcpy(to + have, text, n + 1);
}

static void set(struct settings *s, const struct row *row, const char *text, bool is_added)
{
	char *at = (char *)s + row->at;
	int64_t v = 0;
	const struct choice *choice;
	switch (row->kind) {
	case TEXT:
	case LIST:
		set_text(at, row->room, text, is_added && row->kind == LIST);
		return;
	case BOOL:
		v = is_true(s, text);
		break;
	case NOT:
		v = !is_true(s, text);
		break;
	case NUMBER:
		v = number(text);
		break;
	case CHOICE:
		for (choice = row->choices; choice->word && strcasecmp(choice->word, text) != 0; choice++)
			;
		v = choice->value;
		break;
	}
	memcpy(at, &v, sizeof(v));
}

/* Booleans in YAML follow YAML's rules, strict or not. */
static const char *plain_truth(const char *text)
{
	return !strcasecmp(text, "true") || !strcasecmp(text, "on") || !strcasecmp(text, "yes") ? "1" : text;
}

static void parse_key(void *arg, const char *key, const char *value)
{
	static const char old[] = "profiler.", new[] = "tracer.";
	size_t skip = !strncmp(key, old, sizeof(old) - 1) ? sizeof(old) - 1 : 0;
	for (size_t i = 0; i < ROWS; i++) {
		const char *known = rows[i].key;
		if (!known)
			continue;
		bool is_it = skip
				? !strncmp(known, new, sizeof(new) - 1) && !strcmp(known + sizeof(new) - 1, key + skip)
				: !strcmp(known, key);
		if (is_it)
			set(arg, &rows[i], rows[i].kind == BOOL ? plain_truth(value) : value, true);
	}
}

/* Rules are stored as lines: + for inclusion, - for exclusion. */
static void parse_rule(void *arg, const char *key, const char *value)
{
	struct settings *s = arg;
	size_t have = strlen(s->rules), n = strlen(value);
	char sign = !strcmp(key, "inclusion") ? '+' : !strcmp(key, "exclusion") ? '-' : 0;
	if (!sign || have + n + 3 > sizeof(s->rules))
		return;
	s->rules[have++] = sign;
	memcpy(s->rules + have, value, n);
	memcpy(s->rules + have + n, "\n", 2);
}

static void keep_if_unset(int64_t *field, int64_t value)
{
	if (*field < 0)
		*field = value;
}

static void set_defaults(struct settings *s)
{
	keep_if_unset(&s->is_enabled, 0);
	keep_if_unset(&s->format, 'C');
	keep_if_unset(&s->init, INIT_FUNCTION);
	keep_if_unset(&s->log_level, LEVEL_SILENT);
	keep_if_unset(&s->has_compression, s->format >= 'D');
	keep_if_unset(&s->interval_ms, 1000);
	keep_if_unset(&s->time_metric, METRIC_US);
	keep_if_unset(&s->gotcha_priority, 1);
	keep_if_unset(&s->has_metadata, s->format >= 'E');
	keep_if_unset(&s->has_core_affinity, 0);
	keep_if_unset(&s->has_io, 1);
	keep_if_unset(&s->has_posix, 1);
	keep_if_unset(&s->has_stdio, 1);
	keep_if_unset(&s->has_tids, 1);
	keep_if_unset(&s->binds_signals, 0);
	keep_if_unset(&s->throws_error, 0);
	keep_if_unset(&s->buffer_bytes, 0);
	keep_if_unset(&s->is_aggregating, 0);
	keep_if_unset(&s->aggregation, AGGREGATE_FULL);
	if (!*s->log_file)
		memcpy(s->log_file, "./trace", sizeof("./trace"));
}

void settings_read(struct settings *s)
{
	const char *strict = getenv("SONDE_DFTRACER_STRICT"), *file = getenv("DFTRACER_CONFIGURATION");
	memset(s, 0xff, offsetof(struct settings, log_file)); /* set every number to -1 */
	s->log_file[0] = s->data_dirs[0] = s->aggregation_file[0] = s->rules[0] = '\0';
	s->unread = NULL;
	s->is_strict = 0;
	s->is_strict = strict && is_true(s, strict);
	if (file && !yaml_read_file(file, parse_key, s))
		s->unread = file;
	int64_t compression_of_file = s->has_compression;
	for (size_t i = 0; i < ROWS; i++) {
		const char *value = rows[i].variable ? getenv(rows[i].variable) : NULL;
		if (value)
			set(s, &rows[i], value, false);
	}
	if (s->is_strict) {
		/* Restore DFTracer's behaviour where it differs. */
		const char *tids = getenv("DFTRACER_DISABLE_TIDS"), *compression = getenv("DFTRACER_TRACE_COMPRESSION");
		if (tids && !strcmp(tids, "0"))
			s->has_tids = 0;
		if (compression && s->has_compression > 0)
			s->has_compression = compression_of_file;
		if (s->has_features < 0 && !getenv("DFTRACER_DISABLE_IO"))
			s->has_io = 1;
	}
	set_defaults(s);
	if (s->is_aggregating && s->aggregation == AGGREGATE_SELECTIVE && *s->aggregation_file &&
			!yaml_read_file(s->aggregation_file, parse_rule, s))
		s->unread = s->aggregation_file;
}

int64_t settings_unit_ns(const struct settings *s)
{
	static const int64_t units
			[] = { [METRIC_US] = 1000, [METRIC_NS] = 1, [METRIC_MS] = 1000000, [METRIC_SEC] = 1000000000 };
	return units[s->time_metric];
}
