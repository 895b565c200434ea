/*
 * Statements that the engine answers against the same statements answered by SQLite: `FROM (SELECT * FROM io)` is the
 * same table in a shape that is not pushed down. Names, types, values and order must be equal.
 */
#include "bundle.h"

#include "query/query-private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 3000, STATEMENTS = 600 };

static struct bundle bundle;
static struct model_run *run;
static struct query *query;

/* Small values, so that groups are few, and nulls in every column. */
static int64_t some(uint64_t below)
{
	return random_below(8) ? (int64_t)random_below(below) : STORE_NULL;
}

static int make_run(void **state)
{
	static const char *const calls[] = { "read", "write", "fopen", "close", "stat" };
	static const char *const names[] = { "step", "load", "forward", "a b", "" };
	int64_t call_ids[5], name_ids[5];

	(void)state;
	random_init();
	bundle_make(&bundle);
	for (int i = 0; i < 5; i++) {
		struct store_call row = store_call_nulls;

		row.call = call_ids[i] = bundle_name(&bundle, calls[i]);
		row.bytes_from = bundle_name(&bundle, "result");
		if (i) /* the first one is unknown to the table of calls */
			store_sink_add(&bundle.sink, STORE_TABLE_CALL, &row);
		name_ids[i] = bundle_name(&bundle, names[i]);
		bundle_file(&bundle, i + 1, STORE_NULL, (const char *[]){ "/a", "/b", "/a", "/c/d", "x" }[i]);
	}
	for (int i = 0; i < ROWS; i++) {
		struct store_io io = store_io_nulls;
		struct store_span span = store_span_nulls;

		io.ts_ns = random_below(50) ? 1000 + 10 * i : STORE_NULL;
		io.dur_ns = some(500);
		io.call = random_below(9) ? call_ids[random_below(5)] : random_below(2) ? STORE_NULL : 100000;
		io.process = some(4);
		io.tid = some(3);
		io.file = some(6);
		io.ret = random_below(5) ? some(100) : -(int64_t)random_below(1000);
		io.size = some(100);
		io.errnum = some(3);
		/* sums that overflow, and averages beyond what a double holds exactly */
		io.offset = i % 500 ? some(1000) : i / 500 % 2 ? -INT64_MAX / 3 : INT64_MAX / 3 + i;
		store_sink_add(&bundle.sink, STORE_TABLE_IO, &io);
		span.ts_ns = 1000 + 7 * i;
		span.dur_ns = some(300);
		span.name = random_below(9) ? name_ids[random_below(5)] : STORE_NULL;
		span.process = some(3);
		span.tid = some(3);
		store_sink_add(&bundle.sink, STORE_TABLE_SPAN, &span);
	}
	run = bundle_open(&bundle);
	return query_open(&query, run, NULL);
}

static int remove_run(void **state)
{
	(void)state;
	query_free(query);
	bundle_remove(&bundle, run);
	return 0;
}

/* An answer as text: names, then a line per row with the type of each value. */

static int on_columns(void *arg, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_addf(arg, "[%s]", names[i]);
	buf_addc(arg, '\n');
	return 0;
}

static int on_row(void *arg, const struct query_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		switch (values[i].kind) {
		case QUERY_NULL:
			buf_adds(arg, " -");
			break;
		case QUERY_INT:
			buf_addf(arg, " i%lld", (long long)values[i].integer);
			break;
		case QUERY_REAL:
			buf_addf(arg, " r%a", values[i].real);
			break;
		default:
			buf_addf(arg, " t'%.*s'", (int)values[i].text.bytes, values[i].text.data);
		}
	buf_addc(arg, '\n');
	return 0;
}

/* The answer, or the error; *is_pushed: the engine gave it. */
static struct buf answer(const char *sql, bool *is_pushed)
{
	struct buf out = BUF_INIT;
	struct query_sink sink = { on_columns, on_row, &out };
	struct sonde_err err = SONDE_ERR_INIT;
	uint64_t before = query->pushed;

	if (query_run(query, sql, NULL, &sink, NULL, &err) < 0)
		buf_addf(&out, "error: %s", err.text);
	*is_pushed = query->pushed > before;
	assert_int_equal(buf_error(&out), 0);
	return out;
}

/* Both ways; before: the text up to the table. Returns whether the engine answered. */
static bool compare(const char *before, const char *table, const char *after)
{
	char sql[1024], plain[1024];
	struct buf left, right;
	bool is_pushed, is_plain_pushed;

	assert_in_range(snprintf(sql, sizeof(sql), "%s FROM %s%s", before, table, after), 1, sizeof(sql) - 1);
	assert_in_range(snprintf(plain, sizeof(plain), "%s FROM (SELECT * FROM %s)%s", before, table, after), 1,
			sizeof(plain) - 1);
	left = answer(sql, &is_pushed);
	right = answer(plain, &is_plain_pushed);
	if (strcmp(left.data, right.data) != 0)
		fail_msg("%s\nengine (%d):\n%.2000s\nSQLite:\n%.2000s", sql, is_pushed, left.data, right.data);
	assert_false(is_plain_pushed);
	buf_release(&left);
	buf_release(&right);
	return is_pushed;
}

/* Random statements. */

#define PICK(list) ((list)[random_below(sizeof(list) / sizeof(*(list)))])

static const char *const integers[] = { "dur_ns", "process", "tid", "ret", "size", "errnum", "bytes", "ts_ns",
	"\"offset\"" };

static void put_aggregate(struct buf *out)
{
	static const char *const functions[] = { "count", "sum", "min", "max", "avg", "SUM", "Count" };

	if (random_below(4) == 0)
		buf_adds(out, "count(*)");
	else
		buf_addf(out, "%s(%s)", PICK(functions), PICK(integers));
}

static void put_condition(struct buf *out)
{
	static const char *const operators[] = { "=", "<", "<=", ">", ">=", "<>", "!=", "==" };
	static const char *const words[] = { "'read'", "'fopen'", "'none'", "'close'" };

	switch (random_below(9)) {
	case 0:
		buf_addf(out, "%s BETWEEN %d AND %d", PICK(integers), (int)random_below(50), (int)random_below(30000));
		break;
	case 1:
		buf_addf(out, "%s IS %sNULL", PICK(integers), random_below(2) ? "NOT " : "");
		break;
	case 2:
		buf_addf(out, "call %s %s", random_below(2) ? "=" : "<>", PICK(words));
		break;
	case 3:
		buf_addf(out, "call %sIN (%s, %s)", random_below(2) ? "NOT " : "", PICK(words), PICK(words));
		break;
	case 4:
		buf_addf(out, "kind %s '%s'", random_below(2) ? "=" : "<>",
				PICK(((const char *const[]){ "read", "write", "open", "nothing" })));
		break;
	case 5:
		buf_addf(out, "%s IN (1, 2, -%d, 1e2)", PICK(integers), (int)random_below(99));
		break;
	case 6:
		buf_addf(out, "path IS %sNULL AND call IS %sNULL", random_below(2) ? "NOT " : "",
				random_below(2) ? "NOT " : "");
		break;
	case 7:
		buf_addf(out, "ts_ns >= %d AND ts_ns < %d", (int)random_below(30000), (int)random_below(40000));
		break;
	default:
		buf_addf(out, "%s %s %s%d%s", PICK(integers), PICK(operators), random_below(4) ? "" : "-",
				(int)random_below(500), random_below(5) ? "" : ".0");
	}
}

static bool compare_random(void)
{
	static const char *const keys[] = { "call", "kind", "path", "process", "tid", "errnum", "bytes", "fd" };
	struct buf before = BUF_INIT, after = BUF_INIT;
	const char *by[2] = { PICK(keys), PICK(keys) };
	unsigned key_count = (unsigned)random_below(3), conditions = (unsigned)random_below(4), items = 0;
	bool is_pushed;

	buf_adds(&before, random_below(9) ? "SELECT " : "  select /* all */ ");
	for (unsigned k = 0; k < key_count; k++)
		if (random_below(5))
			buf_addf(&before, "%s%s%s", items++ ? ", " : "", by[k],
					random_below(4)     ? ""
							: k ? " AS k1"
							    : " k0");
	do {
		buf_adds(&before, items++ ? ", " : "");
		put_aggregate(&before);
		if (random_below(4) == 0)
			buf_addf(&before, " / %d.5 + 1", (int)random_below(9));
		if (random_below(3) == 0)
			buf_addf(&before, " AS x%u", items);
	} while (random_below(3));
	for (unsigned c = 0; c < conditions; c++) {
		buf_adds(&after, c ? " AND " : " WHERE ");
		put_condition(&after);
	}
	for (unsigned k = 0; k < key_count; k++)
		buf_addf(&after, "%s%s", k ? ", " : " GROUP BY ", by[k]);
	if (key_count && random_below(3) == 0) {
		buf_adds(&after, " HAVING ");
		put_aggregate(&after);
		buf_addf(&after, " > %d", (int)random_below(2000));
	}
	if (key_count && random_below(2)) { /* the keys make the order one of all rows */
		buf_adds(&after, " ORDER BY ");
		put_aggregate(&after);
		buf_adds(&after, random_below(2) ? " DESC" : "");
		for (unsigned k = 0; k < key_count; k++)
			buf_addf(&after, ", %s%s", by[k], random_below(2) ? " DESC" : "");
		if (random_below(2))
			buf_addf(&after, " LIMIT %d", 1 + (int)random_below(9));
	}
	is_pushed = compare(before.data, "io", after.len ? after.data : "");
	buf_release(&before);
	buf_release(&after);
	return is_pushed;
}

static void random_statements_have_the_answer_of_sqlite(void **state)
{
	size_t pushed = 0;

	(void)state;
	for (int i = 0; i < STATEMENTS; i++)
		pushed += compare_random();
	print_message("# %zu of %d statements by the engine\n", pushed, STATEMENTS);
	assert_in_range(pushed, STATEMENTS / 2, STATEMENTS);
}

/* What the engine would answer in another way is SQLite's: an error where a sum overflows, rounding of averages. */
static void inexact_answers_are_left_to_sqlite(void **state)
{
	bool is_pushed;
	struct buf out = answer("SELECT sum(\"offset\") FROM io WHERE \"offset\" > 0", &is_pushed);

	(void)state;
	assert_string_equal(out.data, "[sum(\"offset\")]\nerror: integer overflow");
	assert_false(is_pushed);
	buf_release(&out);
	assert_false(compare("SELECT process, sum(\"offset\")", "io", " GROUP BY process"));
	assert_false(compare("SELECT avg(\"offset\")", "io", ""));
	assert_true(compare("SELECT avg(\"offset\")", "io", " WHERE \"offset\" BETWEEN 0 AND 1000"));
	/* Rows without a call, and rows with a call that has no name, are one group in SQL and two in the engine. */
	assert_false(compare("SELECT call, count(*)", "io", " GROUP BY call"));
	assert_true(compare("SELECT call, count(*)", "io", " WHERE call IS NOT NULL GROUP BY call"));
}

static void the_table_of_groups_is_internal(void **state)
{
	bool is_pushed;
	struct buf out = answer("SELECT * FROM sonde_groups", &is_pushed);

	(void)state;
	assert_non_null(strstr(out.data, "internal"));
	buf_release(&out);
}

/* By hand. */

static const struct {
	const char *before, *table, *after;
} pushed[] = {
	{ "SELECT name, count(*), sum(dur_ns)", "span", " GROUP BY name" },
	{ "SELECT count(*)", "span", "" },
	{ "SELECT count(*), sum(dur_ns), avg(dur_ns), min(ts_ns)", "span", " WHERE ts_ns < 0" },
	{ "SELECT name, count(*)", "span", " WHERE ts_ns < 0 GROUP BY name" },
	{ "SELECT name AS n, count(*) AS c", "span", " GROUP BY 1 ORDER BY c DESC, n LIMIT 3 OFFSET 1;" },
	{ "SELECT name n, count(*)", "span", " GROUP BY n HAVING n > 'f'" },
	{ "SELECT name", "span", " GROUP BY name" },
	{ "SELECT 1, 'x', count(*)", "io", " -- a comment" },
	{ "SELECT round(sum(dur_ns) / 1e3, 2), coalesce(max(ret), -1)", "io", " GROUP BY path ORDER BY path" },
	{ "SELECT CASE WHEN count(*) > 100 THEN 'many' ELSE 'few' END, path", "io",
			" GROUP BY path, tid ORDER BY path, tid" },
	{ "SELECT \"tid\", count(\"fd\")", "io", " GROUP BY \"tid\" HAVING tid IS NOT NULL" },
	{ "SELECT count(*)", "\"io\"", "" },
	{ "SELECT name, sum(dur_ns)", "span", " WHERE name IN ('a b', '', 'load') GROUP BY name" },
};

/* Of other shapes, or columns that the engine does not have: SQLite's. */
static const struct {
	const char *before, *table, *after;
} left[] = {
	{ "SELECT name, ts_ns, count(*)", "span", " GROUP BY name" },
	{ "SELECT name, max(dur_ns), ts_ns", "span", " GROUP BY name" },
	{ "SELECT DISTINCT count(*)", "span", " GROUP BY name" },
	{ "SELECT count(DISTINCT name)", "span", "" },
	{ "SELECT count(name)", "span", "" },
	{ "SELECT count(*) FILTER (WHERE tid = 1)", "span", "" },
	{ "SELECT max(name)", "span", "" },
	{ "SELECT sum(dur_ns) OVER ()", "span", " LIMIT 3" },
	{ "SELECT *, count(*)", "span", "" },
	{ "SELECT max(tid, process)", "span", " LIMIT 5" },
	{ "SELECT total(dur_ns)", "span", "" },
	{ "SELECT count(*)", "span", " WHERE name > 'b'" },
	{ "SELECT count(*)", "span", " WHERE name LIKE 's%'" },
	{ "SELECT count(*)", "span", " WHERE tid = '1'" },
	{ "SELECT count(*)", "span", " WHERE tid = 0.5" },
	{ "SELECT count(*)", "span", " WHERE tid = 0x1" },
	{ "SELECT count(*)", "span", " WHERE tid = 1 OR tid = 2" },
	{ "SELECT count(*)", "span", " WHERE (tid = 1)" },
	{ "SELECT count(*)", "span", " WHERE tid IN (SELECT 1)" },
	{ "SELECT count(*)", "span", " WHERE tid = NULL" },
	{ "SELECT count(*)", "span", " WHERE tid IS 1" },
	{ "SELECT count(*)", "span", " WHERE tid + 0 = 1" },
	{ "SELECT count(*)", "span", " GROUP BY tid, process, name" },
	{ "SELECT count(*)", "span", " GROUP BY tid + 1" },
	{ "SELECT count(*)", "span", " GROUP BY tid COLLATE NOCASE" },
	{ "SELECT name AS tid, count(*)", "span", " GROUP BY name ORDER BY tid, name" },
	{ "SELECT count(*), \"nothing\"", "span", "" },
	{ "SELECT category, count(*)", "io", " GROUP BY category" },
	{ "SELECT name", "span", " LIMIT 4" },
	{ "SELECT count(*)", "span", " UNION SELECT 1" },
	{ "SELECT (SELECT 1), count(*)", "span", "" },
	{ "SELECT count(*)", "span", " AS s" },
	{ "SELECT s.tid, count(*)", "span", " s GROUP BY s.tid" },
};

static void shapes_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pushed) / sizeof(*pushed); i++)
		if (!compare(pushed[i].before, pushed[i].table, pushed[i].after))
			fail_msg("%s FROM %s%s was left to SQLite", pushed[i].before, pushed[i].table, pushed[i].after);
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		if (compare(left[i].before, left[i].table, left[i].after))
			fail_msg("%s FROM %s%s was pushed down", left[i].before, left[i].table, left[i].after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_statements_have_the_answer_of_sqlite),
		cmocka_unit_test(inexact_answers_are_left_to_sqlite),
		cmocka_unit_test(the_table_of_groups_is_internal),
		cmocka_unit_test(shapes_by_hand),
	};

	return cmocka_run_group_tests(tests, make_run, remove_run);
}
