/*
 * Learnt shapes and the general scanner make the same rows of every line, real,
 * made up or mutated; and so do one thread and several.
 */
#include "traces.h"

#include "pfw/gzip-read.h"
#include "pfw/line-template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Import in both ways, compare everything, and return the share of lines that shapes read, in percent. */
static unsigned both(struct traces *t, const char *path, unsigned threads)
{
	struct rows general, quick;
	struct pfw_counts counts;

	t->options.is_general = true;
	t->options.threads = 1;
	assert_int_equal(traces_import(t, path), 0);
	counts = t->result.counts;
	assert_int_equal(counts.quick, 0);
	rows_read(&general, t->run, NULL);
	t->options.is_general = false;
	t->options.threads = threads;
	assert_int_equal(traces_import(t, path), 0);
	counts.quick = t->result.counts.quick;
	assert_memory_equal(&counts, &t->result.counts, sizeof(counts));
	rows_read(&quick, t->run, NULL);
	rows_same(&general, &quick);
	rows_release(&general);
	rows_release(&quick);
	return counts.lines ? (unsigned)(counts.quick * 100 / counts.lines) : 0;
}

static void real_lines_are_read_alike(void **state)
{
	struct buf text = BUF_INIT, many = BUF_INIT;
	struct traces t;

	(void)state;
	traces_read_data("dlio-excerpt.pfw", &text);
	traces_make(&t);
	for (int i = 0; i < 50; i++)
		buf_addf(&many, "%s\n", text.data);
	traces_write("a.pfw", many.data, many.len);
	assert_true(both(&t, "a.pfw", 1) > 80 || !pfw_shapes_work());
	both(&t, "a.pfw", 3);
	buf_release(&text);
	buf_release(&many);
	traces_remove(&t);
}

/* Lines made up: a shape is a list of fields with the kind of value each has. */

enum kind {
	SMALL,
	LARGE,
	NEGATIVE,
	HUGE_NUMBER,
	HASH,
	HEX,
	QUOTED,
	PLAIN,
	ESCAPED,
	ODD,
	REAL,
	WORD,
	NESTED,
	EMPTY,
	KINDS
};

static const char *const top_keys[] = { "id", "pid", "tid", "ts", "dur", "type", "more", "id" };
static const char *const arg_keys[] = { "hhash", "level", "p_idx", "ret", "count", "size", "fd", "offset", "fhash",
	"fname", "mode", "flags", "whence", "step", "epoch", "path_hash", "hostname", "args", "x" };

static void add_value(struct buf *out, enum kind kind)
{
	static const char *const words[] = { "true", "false", "null" };

	switch (kind) {
	case SMALL:
		buf_addf(out, "%zu", random_below(12));
		break;
	case LARGE:
		buf_addf(out, "%zu", random_below((size_t)1 << (1 + random_below(52))));
		break;
	case NEGATIVE:
		buf_addf(out, "-%zu", random_below(3));
		break;
	case HUGE_NUMBER:
		buf_addf(out, "%llu%u", (unsigned long long)random_u64(), (unsigned)random_below(10));
		break;
	case HASH:
		buf_addf(out, "%llu", (unsigned long long)(random_below(4) * 4611686018427387905u + 77));
		break;
	case HEX:
		buf_addf(out, "\"%016llx\"", (unsigned long long)(random_below(4) * 0x123456789abcdefu));
		break;
	case QUOTED:
		buf_addf(out, "\"%zu\"", random_below(1000000));
		break;
	case PLAIN:
		buf_addf(out, "\"%.*s\"", (int)random_below(60),
				"some plain text, with } and , and : in it, that goes on for a while");
		break;
	case ESCAPED:
		buf_adds(out, random_below(2) ? "\"a\\\"b\\u00e9\\n\"" : "\"w\"");
		break;
	case ODD:
		buf_adds(out, random_below(2) ? "\"t\tb\xff\"" : "\"\xc3\xa9\"");
		break;
	case REAL:
		buf_addf(out, "%zu.%zu", random_below(100), random_below(100));
		break;
	case WORD:
		buf_adds(out, words[random_below(3)]);
		break;
	case NESTED:
		buf_adds(out, "{\"a\":[1,{\"b\":null}],\"c\":\"}\"}");
		break;
	default:
		buf_adds(out, "\"\"");
	}
}

struct field {
	const char *key;
	enum kind kind;
};

struct made_shape {
	const char *name, *category, *phase;
	struct field top[8], args[10];
	size_t top_count, arg_count;
	bool is_spaced;
};

static enum kind kind_for(const char *key)
{
	/* Mostly what tracers write, sometimes anything. */
	if (random_below(8) == 0)
		return (enum kind)random_below(KINDS);
	if (!strcmp(key, "hhash") || !strcmp(key, "fhash") || !strcmp(key, "path_hash"))
		return random_below(2) ? HASH : HEX;
	if (!strcmp(key, "step") || !strcmp(key, "epoch") || !strcmp(key, "hostname") || !strcmp(key, "fname"))
		return random_below(2) ? PLAIN : QUOTED;
	return random_below(3) ? LARGE : SMALL;
}

static void make_shape(struct made_shape *s)
{
	static const char *const names[] = { "read", "write", "open", "step.iter",
		"a name that is rather long, for a name" };
	static const char *const categories[] = { "POSIX", "STDIO", "reader", "POSIX" };

	*s = (struct made_shape){ .name = names[random_below(5)],
		.category = categories[random_below(4)],
		.phase = random_below(6) ? "\"X\"" : "1",
		.top_count = 5 + random_below(4),
		.arg_count = random_below(11),
		.is_spaced = random_below(10) == 0 };
	for (size_t i = 0; i < s->top_count && i < 8; i++)
		s->top[i] = (struct field){ top_keys[i], kind_for(top_keys[i]) };
	s->top_count = s->top_count > 8 ? 8 : s->top_count;
	for (size_t i = 0; i < s->arg_count && i < 10; i++) {
		const char *key = arg_keys[random_below(sizeof(arg_keys) / sizeof(*arg_keys))];

		s->args[i] = (struct field){ key, kind_for(key) };
	}
	s->arg_count = s->arg_count > 10 ? 10 : s->arg_count;
}

static void add_line(struct buf *out, const struct made_shape *s)
{
	const char *colon = s->is_spaced ? " : " : ":", *comma = s->is_spaced ? ", " : ",";

	buf_addf(out, "{\"id\"%s%zu%s\"name\"%s\"%s\"%s\"cat\"%s\"%s\"", colon, random_below(100000), comma, colon,
			s->name, comma, colon, s->category);
	for (size_t i = 0; i < s->top_count; i++) {
		buf_addf(out, "%s\"%s\"%s", comma, s->top[i].key, colon);
		add_value(out, s->top[i].kind);
	}
	buf_addf(out, "%s\"ph\"%s%s", comma, colon, s->phase);
	if (s->arg_count)
		buf_addf(out, "%s\"args\"%s{", comma, colon);
	for (size_t i = 0; i < s->arg_count; i++) {
		buf_addf(out, "%s\"%s\"%s", i ? comma : "", s->args[i].key, colon);
		add_value(out, s->args[i].kind);
	}
	buf_adds(out, s->arg_count ? "}}\n" : "}\n");
}

static void mutate(char *line, size_t n)
{
	static const char bytes[] = "{}[]\":,\\0123456789-.eE abX\t\x01\xff";

	for (size_t k = 1 + random_below(2); k > 0; k--)
		line[random_below(n)] = bytes[random_below(sizeof(bytes) - 1)];
}

static void made_up_lines_are_read_alike(void **state)
{
	struct traces t;

	(void)state;
	random_init();
	traces_make(&t);
	t.options.unit = IMPORT_UNIT_US;
	for (int round = 0; round < 60; round++) {
		struct made_shape shapes[12];
		struct buf text = BUF_INIT;

		buf_adds(&text, "{\"id\":1,\"name\":\"first\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}\n");
		for (size_t i = 0; i < 12; i++)
			make_shape(&shapes[i]);
		for (int i = 0; i < 600; i++) {
			size_t from = text.len;

			add_line(&text, &shapes[random_below(12)]);
			if (round % 2 && random_below(4) == 0)
				mutate(text.data + from, text.len - from - 1);
		}
		traces_write("a.pfw", text.data, text.len);
		both(&t, "a.pfw", 1);
		buf_release(&text);
	}
	traces_remove(&t);
}

/* Every byte of a line that a shape knows, changed to every other byte that matters. */
static void every_change_of_a_known_line_is_read_alike(void **state)
{
	static const char *const lines[] = {
		"{\"id\":36,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":1028,\"tid\":1028,\"ts\":1744611915154466,"
		"\"dur\":3,"
		"\"ph\":\"X\",\"args\":{\"hhash\":9509357668201227806,\"p_idx\":231,\"fd\":16,"
		"\"fhash\":13844040966106168721,"
		"\"ret\":16,\"count\":16,\"offset\":0,\"level\":11}}\n",
		"{\"id\":7,\"name\":\"get\",\"cat\":\"reader\",\"type\":6,\"pid\":1,\"tid\":2,"
		"\"ts\":1744611915154466,\"dur\":3,\"ph\":1,"
		"\"args\":{\"hhash\":\"6882804a826580cd\",\"level\":4,\"epoch\":\"1\",\"p_idx\":9,\"f\":1.5,"
		"\"b\":true}}\n",
	};
	static const char bytes[] = "\"\\,:}{]0918-.eEtx\x7f\xff\x1f ";
	struct traces t;

	(void)state;
	traces_make(&t);
	t.options.unit = IMPORT_UNIT_US;
	for (size_t l = 0; l < 2; l++) {
		size_t n = strlen(lines[l]);
		struct buf text = BUF_INIT;

		for (size_t i = 0; i + 1 < n; i++) {
			for (size_t k = 0; k + 1 < sizeof(bytes); k++) {
				buf_add(&text, lines[l], n);
				buf_add(&text, lines[l], n);
				text.data[text.len - n + i] = bytes[k];
			}
		}
		traces_write("a.pfw", text.data, text.len);
		assert_true(both(&t, "a.pfw", 1) >= 50 || !pfw_shapes_work());
		buf_release(&text);
	}
	traces_remove(&t);
}

/* More names than shapes are kept, and more threads than a worker remembers. */
static void many_names_and_threads_are_read_alike(void **state)
{
	struct buf text = BUF_INIT;
	struct traces t;

	(void)state;
	random_init();
	traces_make(&t);
	for (int i = 0; i < 90000; i++)
		buf_addf(&text,
				"{\"id\":%d,\"name\":\"n%d\",\"cat\":\"c\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":1,"
				"\"ph\":\"X\"}\n",
				i, (int)random_below(i < 10000 ? 9000 : 20), i % 400, i, 1000000 + i);
	traces_write("a.pfw", text.data, text.len);
	both(&t, "a.pfw", 1);
	both(&t, "a.pfw", 4);
	buf_release(&text);
	traces_remove(&t);
}

/* One member, which one thread must inflate, and the others read: the same rows. */
static void threads_share_a_single_member(void **state)
{
	struct buf text = BUF_INIT, packed = BUF_INIT;
	struct traces t;

	(void)state;
	traces_make(&t);
	for (int i = 0; i < 60000; i++)
		buf_addf(&text,
				"{\"id\":%d,\"name\":\"%s\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":%d,\"ts\":%d,"
				"\"dur\":%d,\"ph\":\"X\","
				"\"args\":{\"hhash\":9509357668201227806,\"fhash\":%d,\"ret\":%d}}\n",
				i, i % 3 ? "read" : "write", i % 7, 5000000 + i, i % 50, 700000 + i % 1000, i % 4096);
	pfw_gzip_deflate(&packed, text.data, text.len);
	traces_write("a.pfw.gz", packed.data, packed.len);
	both(&t, "a.pfw.gz", 4);
	assert_int_equal(t.result.counts.events, 60000);
	buf_release(&text);
	buf_release(&packed);
	traces_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_lines_are_read_alike),
		cmocka_unit_test(made_up_lines_are_read_alike),
		cmocka_unit_test(every_change_of_a_known_line_is_read_alike),
		cmocka_unit_test(many_names_and_threads_are_read_alike),
		cmocka_unit_test(threads_share_a_single_member),
	};

	return RUN_TESTS(tests);
}
