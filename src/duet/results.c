/* results: reads directories. A file that cannot be read is reported and skipped; the others count. */
#include "duet/results.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/map.h"
#include "duet/suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARTIFACT_BYTES_MAX = 1 << 20, ARTIFACTS_MAX = 64, FILES_MAX = 1 << 20 };

/* Which part of an artifact becomes a column: all of it, or the value after a word. */
static const struct {
	const char *name, *word;
} artifact_words[] = { { "lscpu", "Model name:" }, { "meminfo", "MemTotal:" } };

/* Names of result files, compatible with duetbench, so that its tools and ours can read each other's directories. */

const char *const duet_design_types
		[] = { [DUET_SEQ] = "seqn", [DUET_RMIT] = NULL, [DUET_SYNC] = "syncduet", [DUET_ASYNC] = "duet" };

static const char name_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/* Fields are separated by dots, so names must not contain any. */
static char *dotless(const char *text, struct arena *arena)
{
	char *copy = arena_strdup(arena, text);

	for (char *c = copy; c && *c; c++)
		if (!strchr(name_letters, *c))
			*c = '_';
	return copy;
}

char *duet_step_result_name(const struct duet_step *step, enum duet_side side, const char *path, struct arena *arena)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *order = step->design == DUET_SEQ ? "None" : step->is_first_b ? "BA" : "AB";
	char *suite = dotless(step->benchmark->suite, arena), *benchmark = dotless(step->benchmark->name, arena);

	if (!suite || !benchmark)
		return NULL;
	return arena_printf(arena, "%s.%s.%" PRId64 ".%s.%s.%c.%s", suite, benchmark, step->runid,
			duet_design_types[step->design], order, "AB"[side], *base ? base : "results");
}

/* Copies the field up to the next dot; false if too long, empty or with other characters. */
static bool take_field(const char **at, char *out, size_t size, const char *letters)
{
	size_t n = strcspn(*at, ".");

	if (!n || n >= size || (*at)[n] != '.' || (letters && strspn(*at, letters) != n))
		return false;
	memcpy(out, *at, n);
	out[n] = '\0';
	*at += n + 1;
	return true;
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(*words, text))
			return true;
	return false;
}

bool duet_result_name_parse(struct duet_result_name *out, const char *name)
{
	static const char *const types[] = { "duet", "syncduet", "seqn", NULL };
	static const char *const orders[] = { "AB", "BA", "None", NULL };
	char runid[24], pair[4];
	const char *at = name;

	if (!take_field(&at, out->suite, sizeof(out->suite), name_letters) ||
			!take_field(&at, out->benchmark, sizeof(out->benchmark), name_letters) ||
			!take_field(&at, runid, 19, "0123456789") ||
			!take_field(&at, out->type, sizeof(out->type), NULL) ||
			!take_field(&at, out->order, sizeof(out->order), NULL) ||
			!take_field(&at, pair, sizeof(pair), "AB"))
		return false;
	if (!is_one_of(out->type, types) || !is_one_of(out->order, orders) || pair[1] || !*at)
		return false;
	out->runid = strtoll(runid, NULL, 10);
	out->pair = pair[0];
	out->base = at;
	return true;
}

/* Directories. */

struct artifact {
	char *name, *value;
};

struct directory {
	struct duet_results *r;
	const char *path;
	struct artifact artifacts[ARTIFACTS_MAX];
	size_t artifact_count;
};

void duet_results_release(struct duet_results *r)
{
	duet_table_release(&r->table);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Returns the first line after `word`, or the first line; trimmed in place. */
static char *artifact_value(const char *name, char *text)
{
	char *from = text, *end;

	for (size_t i = 0; i < sizeof(artifact_words) / sizeof(*artifact_words); i++)
		if (!strcmp(artifact_words[i].name, name) && (from = strstr(text, artifact_words[i].word)))
			from += strlen(artifact_words[i].word);
	if (!from)
		return NULL;
	from += strspn(from, " \t\r\n");
	end = from + strcspn(from, "\r\n");
	while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return from;
}

static void read_artifact(struct directory *d, const char *name)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct artifact *a = &d->artifacts[d->artifact_count];
	char *value;

	buf_addf(&path, "%s/artifacts/%s", d->path, name);
	if (d->artifact_count == ARTIFACTS_MAX || fs_read_file(AT_FDCWD, path.data, ARTIFACT_BYTES_MAX, &text, NULL))
		return;
	value = artifact_value(name, text.data);
	a->name = arena_strdup(&d->r->table.arena, name);
	a->value = value ? arena_strdup(&d->r->table.arena, value) : NULL;
	if (a->name && a->value)
		d->artifact_count++;
}

static void read_artifacts(struct directory *d)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct dirent **entries;
	int n;

	buf_addf(&path, "%s/artifacts", d->path);
	n = scandir(path.data, &entries, is_visible, alphasort);
	for (int i = 0; i < n; i++) {
		read_artifact(d, entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static const char *artifact(const struct directory *d, const char *name)
{
	for (size_t i = 0; i < d->artifact_count; i++)
		if (!strcmp(d->artifacts[i].name, name))
			return d->artifacts[i].value;
	return NULL;
}

/* Old harnesses count from their own start: their times become absolute if `date` is known. */
static void anchor(const struct directory *d, struct duet_row *row)
{
	const int64_t year_2000 = INT64_C(946684800000000000);
	const char *date = artifact(d, "date");
	struct tm tm = { 0 };
	int64_t at;

	if (!date || row->start_ns == DUET_UNKNOWN_NS || row->start_ns >= year_2000 || row->start_ns < 0)
		return;
	if (!strptime(date, "%a %b %d %H:%M:%S %Z %Y", &tm) && !strptime(date, "%a %d %b %Y %H:%M:%S", &tm))
		return;
	at = (int64_t)timegm(&tm);
	if (at < 0 || at > INT64_C(8000000000))
		return;
	row->start_ns += at * 1000000000;
	row->end_ns += at * 1000000000;
}

/* Does this file have iterations of more than one benchmark? */
static bool has_several(const struct duet_table *t, size_t first)
{
	for (size_t i = first + 1; i < t->count; i++)
		if (t->rows[i].benchmark && t->rows[first].benchmark &&
				strcmp(t->rows[i].benchmark, t->rows[first].benchmark) != 0)
			return true;
	return false;
}

/* Fills in rows from the file's name and directory. */
static int complete(struct directory *d, size_t first, const struct duet_result_name *name)
{
	struct duet_table *t = &d->r->table;
	const char *suite = arena_strdup(&t->arena, name->suite), *benchmark = arena_strdup(&t->arena, name->benchmark);
	const char *type = arena_strdup(&t->arena, name->type), *order = arena_strdup(&t->arena, name->order);

	bool is_several = has_several(t, first);

	if (!suite || !benchmark || !type || !order)
		return -ENOMEM;
	for (size_t i = first; i < t->count; i++) {
		struct duet_row *row = &t->rows[i];

		row->suite = suite;
		row->benchmark = is_several && row->benchmark
				? arena_printf(&t->arena, "%s/%s", benchmark, row->benchmark)
				: benchmark;
		row->type = type;
		row->order = order;
		row->pair = name->pair;
		row->runid = name->runid;
		row->source = d->r->sources;
		anchor(d, row);
		for (size_t a = 0; a < d->artifact_count; a++)
			if (duet_table_put(t, row, d->artifacts[a].name, d->artifacts[a].value))
				return -ENOMEM;
	}
	return 0;
}

/* 0, or -ENOMEM; a file that cannot be read is reported. */
static int read_file(struct directory *d, const char *file, const struct duet_result_name *name, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct sonde_err why = SONDE_ERR_INIT;
	struct duet_parse p = { .table = &d->r->table,
		.pattern = d->r->pattern,
		.unit_ns = d->r->unit_ns,
		.err = &why };
	size_t first = d->r->table.count;
	int rc;

	buf_addf(&path, "%s/%s", d->path, file);
	p.path = path.data;
	rc = duet_parse_result(&p, d->r->pattern ? NULL : duet_format_named(d->r->suite ? d->r->suite : name->suite));
	if (rc) {
		d->r->unread++;
		if (d->r->on_trouble)
			d->r->on_trouble(d->r->arg, &why);
		return 0;
	}
	d->r->files++;
	return complete(d, first, name) ? err_sys(err, ENOMEM, "cannot read '%s'", path.data) : 0;
}

int duet_results_read(struct duet_results *r, const char *dir, struct sonde_err *err)
{
	struct directory d = { .r = r, .path = dir };
	struct dirent **entries;
	size_t found = 0;
	int n = scandir(dir, &entries, is_visible, alphasort), rc = 0;

	if (n < 0)
		return err_sys(err, errno, "cannot open the results in '%s'", dir);
	read_artifacts(&d);
	for (int i = 0; i < n; i++) {
		struct duet_result_name name;

		if (!rc && duet_result_name_parse(&name, entries[i]->d_name) && strcmp(name.suite, "debug") != 0) {
			found++;
			rc = read_file(&d, entries[i]->d_name, &name, err);
		}
		free(entries[i]);
	}
	free(entries);
	r->sources++;
	if (!rc && !found) {
		rc = err_set(err, ENODATA, "no results found in '%s'", dir);
		err_hint(err, "result files are called <suite>.<benchmark>.<runid>.<type>.<order>.<A|B>.<file>");
	}
	return rc;
}

int duet_results_read_file(struct duet_results *r, const char *path, enum duet_side side, struct sonde_err *err)
{
	const struct duet_format *format = NULL;
	struct duet_parse p = { .path = path,
		.table = &r->table,
		.pattern = r->pattern,
		.unit_ns = r->unit_ns,
		.used = &format,
		.err = err };
	size_t first = r->table.count;
	int rc = duet_parse_result(&p, r->suite && !r->pattern ? duet_format_named(r->suite) : NULL);

	for (size_t i = first; i < r->table.count && !rc; i++) {
		struct duet_row *row = &r->table.rows[i];

		row->suite = format->name;
		row->type = duet_design_types[DUET_SEQ];
		row->order = "None";
		row->pair = "AB"[side];
		row->runid = 0;
		row->is_repetition = !duet_results_warm_up(format->name);
		if (row->iteration < 0)
			row->iteration = (int64_t)(i - first);
	}
	r->files += !rc;
	return rc;
}

void duet_results_match(struct duet_results *r)
{
	const char *names[DUET_SIDES] = { NULL };

	for (size_t i = 0; i < r->table.count; i++) {
		const char **name = &names[r->table.rows[i].pair == 'B' ? DUET_B : DUET_A];
		const char *own = r->table.rows[i].benchmark ? r->table.rows[i].benchmark : "";

		if (*name && strcmp(*name, own) != 0)
			return;
		*name = own;
	}
	for (size_t i = 0; i < r->table.count && names[DUET_B]; i++)
		r->table.rows[i].benchmark = names[DUET_B];
}

bool duet_results_is_table(const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *fields[DUET_COLUMNS_MAX];
	size_t n, needed = 0;

	if (fs_read_file(AT_FDCWD, path, DUET_RESULT_BYTES_MAX, &text, NULL))
		return false;
	n = duet_csv_split(text.data, fields, DUET_COLUMNS_MAX);
	for (size_t i = 0; i < n; i++)
		needed += !strcmp(fields[i], "benchmark") || !strcmp(fields[i], "pair");
	return needed == 2;
}

/* Fields of a processed file, by column name. */
struct columns {
	char *names[DUET_COLUMNS_MAX];
	size_t count;
};

static const char *field(const struct columns *c, char **fields, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->names[i], name))
			return *fields[i] ? fields[i] : NULL;
	return NULL;
}

/* Integers are parsed exactly; "1.5e9" and "12.0", which other tools write, as a double. */
static int64_t int_field(const struct columns *c, char **fields, const char *name)
{
	const char *text = field(c, fields, name);
	char *end;
	double number;
	long long whole;

	if (!text)
		return DUET_UNKNOWN_NS;
	errno = 0;
	whole = strtoll(text, &end, 10);
	if (!*end && !errno)
		return whole;
	return duet_parse_number(text, &number) && number > -9e18 && number < 9e18 ? (int64_t)number : DUET_UNKNOWN_NS;
}

static double real_field(const struct columns *c, char **fields, const char *name)
{
	const char *text = field(c, fields, name);
	double number;

	return text && duet_parse_number(text, &number) ? number : NAN;
}

static const char *text_field(struct duet_table *t, const struct columns *c, char **fields, const char *name)
{
	const char *text = field(c, fields, name);

	return text ? arena_strdup(&t->arena, text) : NULL;
}

static int take_row(struct duet_results *r, const struct columns *c, char **fields)
{
	struct duet_table *t = &r->table;
	struct duet_row *row = duet_table_add(t);
	const char *pair = field(c, fields, "pair");

	if (!row)
		return -ENOMEM;
	row->suite = text_field(t, c, fields, "suite");
	row->benchmark = text_field(t, c, fields, "benchmark");
	row->type = text_field(t, c, fields, "type");
	row->order = text_field(t, c, fields, "order");
	row->pair = pair ? *pair : 0;
	row->runid = int_field(c, fields, "runid");
	row->iteration = int_field(c, fields, "iteration");
	row->start_ns = int_field(c, fields, "iteration_start_ns");
	row->end_ns = int_field(c, fields, "iteration_end_ns");
	row->time_ns = real_field(c, fields, "iteration_time_ns");
	return 0;
}

/*
 * A table of several directories can have the same run number more than once: if the iterations of a side restart,
 * another run begins. `last` has the last row of each.
 */
static int set_source(struct duet_results *r, struct map *last)
{
	size_t at = r->table.count - 1;
	struct duet_row *row = &r->table.rows[at];
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	uint64_t *place;
	bool is_new;

	buf_addf(&key, "%s\n%s\n%s\n%" PRId64 "\n%c", row->suite ? row->suite : "",
			row->benchmark ? row->benchmark : "", row->type ? row->type : "", row->runid, row->pair);
	place = map_put(last, key.data, key.len, &is_new);
	if (!place)
		return -ENOMEM;
	row->source = r->sources;
	if (!is_new)
		row->source = r->table.rows[*place].source + (row->iteration <= r->table.rows[*place].iteration);
	*place = at;
	return 0;
}

static int check_columns(const struct columns *c, const char *path, struct sonde_err *err)
{
	static const char *const needed[] = { "benchmark", "pair" };

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		size_t k = 0;

		while (k < c->count && strcmp(c->names[k], needed[i]) != 0)
			k++;
		if (k == c->count) {
			err_set(err, EBADMSG, "'%s' is not a table of results: it has no column '%s'", path, needed[i]);
			err_hint(err, "sonde duet process makes one of a directory of results");
			return -EBADMSG;
		}
	}
	return 0;
}

int duet_results_read_csv(struct duet_results *r, const char *path, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(map_release) struct map last = MAP_INIT;
	struct columns c = { 0 };
	size_t before = r->table.count;
	int rc = fs_read_file(AT_FDCWD, path, DUET_RESULT_BYTES_MAX, &text, err);
	char *line = text.data;

	while (!rc && line && *line) {
		char *next = strchr(line, '\n'), *fields[DUET_COLUMNS_MAX];

		if (!c.count) {
			c.count = duet_csv_split(line, c.names, DUET_COLUMNS_MAX);
			rc = check_columns(&c, path, err);
		} else if (duet_csv_split(line, fields, DUET_COLUMNS_MAX) != c.count) {
			rc = err_set(err, EBADMSG, "'%s' has a line without all of its %zu columns", path, c.count);
		} else if (take_row(r, &c, fields) || set_source(r, &last)) {
			rc = err_sys(err, ENOMEM, "cannot read '%s'", path);
		}
		line = next ? next + 1 : NULL;
	}
	if (!rc && r->table.count == before)
		rc = err_set(err, ENODATA, "'%s' has no iterations in it", path);
	for (size_t i = before; i < r->table.count; i++)
		r->sources = r->table.rows[i].source > r->sources ? r->table.rows[i].source : r->sources;
	r->sources++;
	r->files++;
	return rc;
}
