/* Parts: saved and loaded, they give the result of one scan; damage is an error. */
#include "truth.h"

#include "base/buf.h"
#include "base/json.h"

#include <errno.h>
#include <string.h>

static void add_rows(struct truth *t)
{
	truth_start(t);
	bundle_file(&t->bundle, 1, STORE_NULL, "/data/a");
	truth_row(t, "process", "process pid exe", "1 10 /bin/one");
	for (int i = 0; i < 500; i++)
		truth_call(t, i % 3 ? "read" : "write", i * MS, 1000 + i, 1, 10 * i);
	truth_row(t, "span", "ts_ns dur_ns process pid tid name category depth is_open", "1100 5 1 10 10 inner x 1 0");
	truth_row(t, "span", "ts_ns dur_ns process pid tid name category depth is_open", "1050 90 1 10 10 outer x 0 0");
	truth_row(t, "step", "ts_ns process pid tid name index", "1100 1 10 10 epoch 0");
	truth_row(t, "step", "ts_ns process pid tid name index", "1300 1 10 10 epoch 1");
}

static void save(struct truth *t, const struct analyze_opts *opts, struct buf *out)
{
	struct analyze *a;

	assert_int_equal(analyze_new(&a, t->run, opts, NULL), 0);
	assert_int_equal(analyze_scan(a, NULL), 0);
	assert_int_equal(analyze_save(a, out, NULL), 0);
	analyze_free(a);
}

static void write_json(const struct analyze_result *r, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	analyze_write_json(r, &j);
	json_end(&j);
}

static void parts_give_the_same_result(void **state)
{
	struct analyze_opts opts = { .threads = 1,
		.rules = "posix",
		.cpu_filters = "a:red",
		.gpu_filters = "b",
		.part = { 0, 3 } };
	struct buf parts[3] = { BUF_INIT, BUF_INIT, BUF_INIT }, whole = BUF_INIT, merged = BUF_INIT;
	const struct analyze_result *result;
	struct analyze_part part;
	struct analyze *a = NULL;
	struct truth t;

	(void)state;
	add_rows(&t);
	truth_analyze(&t, NULL);
	write_json(t.result, &whole);
	for (unsigned i = 0; i < 3; i++) {
		opts.part.number = i;
		save(&t, &opts, &parts[i]);
	}
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(analyze_part_open(&part, parts[i].data, parts[i].len, "part", NULL), 0);
		assert_int_equal(part.run[0], '/');
		assert_non_null(strstr(part.name, "runs/"));
		assert_string_equal(part.opts.rules, "posix");
		assert_string_equal(part.opts.cpu_filters, "a:red");
		assert_string_equal(part.opts.gpu_filters, "b");
		assert_false(part.opts.has_range);
		assert_int_equal(part.opts.part.number, i);
		assert_int_equal(part.opts.part.count, 3);
		if (!a)
			assert_int_equal(analyze_new(&a, t.run,
							 &(struct analyze_opts){ .threads = 1, .part = { 0, 1 } },
							 NULL),
					0);
		assert_int_equal(analyze_load(a, &part, NULL), 0);
	}
	assert_int_equal(analyze_finish(a, &result, NULL), 0);
	write_json(result, &merged);
	assert_string_equal(merged.data, whole.data);
	analyze_free(a);
	for (int i = 0; i < 3; i++)
		buf_release(&parts[i]);
	buf_release(&whole);
	buf_release(&merged);
	truth_end(&t);
}

static void parts_keep_the_range(void **state)
{
	struct analyze_opts opts = { .threads = 1,
		.part = { 1, 2 },
		.has_range = true,
		.from_ns = 1234,
		.to_ns = 567890 };
	struct analyze_part part;
	struct buf bytes = BUF_INIT;
	struct truth t;

	(void)state;
	add_rows(&t);
	truth_open(&t);
	save(&t, &opts, &bytes);
	assert_int_equal(analyze_part_open(&part, bytes.data, bytes.len, "part", NULL), 0);
	assert_true(part.opts.has_range);
	assert_int_equal(part.opts.from_ns, 1234);
	assert_int_equal(part.opts.to_ns, 567890);
	assert_string_equal(part.opts.cpu_filters, "");
	buf_release(&bytes);
	truth_end(&t);
}

static void damage_is_an_error(void **state)
{
	struct analyze_opts opts = { .threads = 1, .part = { 0, 1 } };
	struct buf bytes = BUF_INIT;
	struct analyze_part part, good;
	struct sonde_err err = SONDE_ERR_INIT;
	struct analyze *a;
	struct truth t;
	size_t head;

	(void)state;
	add_rows(&t);
	truth_open(&t);
	save(&t, &opts, &bytes);
	assert_int_equal(analyze_part_open(&part, "nothing", 7, "x", &err), -EBADMSG);
	assert_non_null(strstr(err.text, "'x'"));
	assert_int_equal(analyze_part_open(&good, bytes.data, bytes.len, "x", &err), 0);
	head = (size_t)((const char *)good.at - bytes.data);
	for (size_t n = 0; n < head; n++)
		assert_int_equal(analyze_part_open(&part, bytes.data, n, "x", &err), -EBADMSG);
	assert_int_equal(analyze_part_open(&part, bytes.data, head, "x", &err), 0);

	assert_int_equal(analyze_new(&a, t.run, &opts, NULL), 0);
	part = good;
	part.rows++;
	assert_int_equal(analyze_load(a, &part, &err), -EBADMSG);
	part = good;
	part.end--;
	assert_true(analyze_load(a, &part, &err) < 0);
	analyze_free(a);
	assert_int_equal(analyze_new(&a, t.run, &opts, NULL), 0);
	buf_addc(&bytes, 'x'); /* moves the bytes */
	assert_int_equal(analyze_part_open(&part, bytes.data, bytes.len, "x", &err), 0);
	assert_int_equal(analyze_load(a, &part, &err), -EBADMSG);
	analyze_free(a);
	buf_release(&bytes);
	truth_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_give_the_same_result),
		cmocka_unit_test(parts_keep_the_range),
		cmocka_unit_test(damage_is_an_error),
	};

	return RUN_TESTS(tests);
}
