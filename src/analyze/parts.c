/* Parts of an analysis: saves and loads the state of one process. */
#include "analyze/analyze.h"
#include "analyze/pass.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "sonde part 2"

static uint64_t rows_of(const struct model_run *run)
{
	uint64_t rows = 0;

	for (int t = 0; t < STORE_TABLE_COUNT; t++) {
		const struct store_table *table = model_table(run, (enum store_table_id)t);

		rows += table ? store_table_rows(table) : 0;
	}
	return rows;
}

/* Includes the '\0', so that readers can point to it. */
static void pack_string(struct buf *out, const char *text)
{
	pack_uint(out, strlen(text) + 1);
	buf_add(out, text, strlen(text) + 1);
}

static const char *unpack_string(struct unpack *u)
{
	size_t n = unpack_count(u, 1);
	const char *text = (const char *)u->at;

	if (!n || u->is_bad || text[n - 1] != '\0' || memchr(text, '\0', n) != text + n - 1) {
		u->is_bad = true;
		return "";
	}
	u->at += n;
	return text;
}

int analyze_save(struct analyze *a, struct buf *out, struct sonde_err *err)
{
	CLEANUP(cleanup_free) char *run = realpath(model_run_path(a->run), NULL);
	int rc = 0;

	if (!run)
		return err_sys(err, errno, "cannot resolve '%s'", model_run_path(a->run));
	pack_text(out, MAGIC);
	pack_string(out, run);
	pack_string(out, model_run_path(a->run));
	pack_uint(out, rows_of(a->run));
	pack_string(out, a->rules.name);
	pack_string(out, a->rules.text);
	pack_uint(out, a->opts.has_range);
	pack_int(out, a->opts.from_ns);
	pack_int(out, a->opts.to_ns);
	pack_string(out, a->opts.cpu_filters ? a->opts.cpu_filters : "");
	pack_string(out, a->opts.gpu_filters ? a->opts.gpu_filters : "");
	pack_uint(out, a->opts.part.number);
	pack_uint(out, a->opts.part.count);
	for (unsigned i = 0; i < a->fed_count && rc == 0; i++)
		rc = engine_plan_save(a->fed[i], out);
	for (int t = 0; t < STORE_TABLE_COUNT && rc == 0; t++)
		rc = a->plans[t] ? engine_plan_save(a->plans[t], out) : 0;
	if (rc == 0)
		rc = buf_error(out);
	return rc < 0 ? err_sys(err, -rc, "cannot save the part") : 0;
}

int analyze_part_open(struct analyze_part *part, const void *bytes, size_t n, const char *name, struct sonde_err *err)
{
	struct unpack u = { .at = bytes, .end = (const uint8_t *)bytes + n };
	uint64_t number, count;

	if (!unpack_is_text(&u, MAGIC))
		return err_set(err, EBADMSG, "'%s' is not a part written by this version of sonde summary", name);
	*part = (struct analyze_part){ .run = unpack_string(&u) };
	part->name = unpack_string(&u);
	part->rows = unpack_uint(&u);
	part->opts.rules = unpack_string(&u);
	part->opts.rules_text = unpack_string(&u);
	part->opts.has_range = unpack_uint(&u);
	part->opts.from_ns = unpack_int(&u);
	part->opts.to_ns = unpack_int(&u);
	part->opts.cpu_filters = unpack_string(&u);
	part->opts.gpu_filters = unpack_string(&u);
	number = unpack_uint(&u);
	count = unpack_uint(&u);
	if (u.is_bad || count > ENGINE_PARTS_MAX || number >= count)
		return err_set(err, EBADMSG, "the part '%s' is damaged", name);
	part->opts.part = (struct engine_part){ .number = (unsigned)number, .count = (unsigned)count };
	part->at = u.at;
	part->end = u.end;
	return 0;
}

int analyze_load(struct analyze *a, const struct analyze_part *part, struct sonde_err *err)
{
	struct unpack u = { .at = part->at, .end = part->end };
	int rc = 0;

	if (part->rows != rows_of(a->run))
		return err_set(err, EBADMSG, "'%s' has changed since the part was saved", part->run);
	for (unsigned i = 0; i < a->fed_count && rc == 0; i++)
		rc = engine_plan_load(a->fed[i], &u, err);
	for (int t = 0; t < STORE_TABLE_COUNT && rc == 0; t++)
		rc = a->plans[t] ? engine_plan_load(a->plans[t], &u, err) : 0;
	if (rc == 0 && u.at != u.end)
		rc = err_set(err, EBADMSG, "unexpected data at the end of the part");
	return rc;
}
