/* Every kind of annotation, one after the other; prints what must be recorded. */
#include "expect.h"

#include <math.h>
#include <sonde/sonde.h>
#include <stdbool.h>
#include <stdlib.h>

#define MARK "\xe2\x80\xa6"
#define CUT_BYTES 256
#define LONG_BYTES 200000

static char *long_text(char fill)
{
	char *text = malloc(LONG_BYTES + 1);
	if (!text)
		abort();
	memset(text, fill, LONG_BYTES);
	text[LONG_BYTES] = '\0';
	return text;
}

static void nesting(void)
{
	expect("span", "outer", "test", 0);
	SONDE_SPAN("outer", "test");
	{
		expect("span", "middle", NULL, 1);
		SONDE_SPAN("middle");
		for (int i = 0; i < 3; i++) {
			expect("span", "inner", "loop", 2);
			SONDE_SPAN("inner", "loop");
		}
	}
	expect("span", "second", NULL, 1);
	SONDE_SPAN("second");
	expect("span", "third of the same block", NULL, 2);
	SONDE_SPAN("third of the same block");
}

static void typed_arguments(void)
{
	SONDE_SPAN_AS(s, "typed", "args");
	sonde_arg_int(&s, "least", INT64_MIN);
	sonde_arg_int(&s, "small", (short)-3);
	sonde_arg_uint(&s, "most", UINT64_MAX);
	sonde_arg_real(&s, "third", 1.0 / 3);
	sonde_arg_real(&s, "nothing", NAN);
	sonde_arg_real(&s, "endless", -INFINITY);
	sonde_arg_str(&s, "text", "plain");
	sonde_arg_str(&s, "empty", "");
	sonde_arg_str(&s, "absent", NULL);
	sonde_arg_text(&s, "bytes", "a\0b", 3);
	expect_head("span", "typed", "args", 0);
	expect_arg_int("least", INT64_MIN);
	expect_arg_int("small", -3);
	expect_arg_uint("most", UINT64_MAX);
	expect_arg_real("third", 1.0 / 3);
	expect_arg_real("nothing", NAN);
	expect_arg_real("endless", -INFINITY);
	expect_arg_text("text", "plain", 5);
	expect_arg_text("empty", "", 0);
	expect_arg_text("absent", "(null)", 6);
	expect_arg_text("bytes", "a\0b", 3);
	expect_end();
}

static void hostile_strings(void)
{
	static const char *const hostile[] = { "\"quotes\" and 'quotes'", "line\nline\r\ttab", "\xff\xfe invalid",
		"back\\slash", "</script>", "%s%n", "\x1b[31m", "{\"json\": 1}", "\xe6\x97\xa5\xe6\x9c\xac", "" };
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		struct sonde_span s;
		sonde_span_begin(&s, hostile[i], hostile[i]);
		sonde_arg_str(&s, hostile[i], hostile[i]);
		sonde_span_end(&s);
		/* ring.py replaces what is not UTF-8 in names */
		bool is_utf8 = hostile[i][0] != '\xff';
		const char *name = is_utf8 ? hostile[i] : "\xef\xbf\xbd\xef\xbf\xbd invalid";
		expect_head("span", name, name, 0);
		expect_arg_text(name, hostile[i], strlen(hostile[i]));
		expect_end();
	}
}

static void long_strings(void)
{
	char *text = long_text('x'), cut[1024 + 1];
	memset(cut, 'x', sizeof(cut));
	{
		SONDE_SPAN_AS(s, text, text);
		sonde_arg_str(&s, "long", text);
		sonde_arg_text(&s, "long", text, LONG_BYTES);
		memcpy(cut + 1024 - 3, MARK, 4);
		expect_head("span", cut, cut, 0);
		memcpy(cut + CUT_BYTES - 3, MARK, 4);
		expect_arg_text("long", cut, CUT_BYTES);
		/* the second finds 512 bytes less the first, its head, and room kept for a count */
		size_t left = SONDE_ARG_BYTES - 16 - CUT_BYTES - 16 - 16;
		memset(cut, 'x', sizeof(cut));
		memcpy(cut + left - 3, MARK, 4);
		expect_arg_text("long", cut, left);
		expect_end();
	}
	free(text);
}

static void cut_characters(void)
{
	/* of three bytes each: the mark must not stand in the middle of one */
	char text[600], cut[300];
	for (size_t i = 0; i < sizeof(text); i += 3)
		memcpy(text + i, "\xe6\x97\xa5", 3);
	memcpy(cut, text, sizeof(cut));
	memcpy(cut + 252, MARK, 3);
	SONDE_SPAN_AS(s, "cut");
	sonde_arg_text(&s, "text", text, sizeof(text));
	expect_head("span", "cut", NULL, 0);
	expect_arg_text("text", cut, 255);
	expect_end();
}

static void too_many_arguments(void)
{
	SONDE_SPAN_AS(s, "crowded");
	expect_head("span", "crowded", NULL, 0);
	for (int i = 0; i < 40; i++) {
		sonde_arg_int(&s, "n", i);
		if (i < SONDE_ARG_BYTES / 16 - 1)
			expect_arg_int("n", i);
	}
	expect_arg_uint("args_lost", 40 - (SONDE_ARG_BYTES / 16 - 1));
	expect_end();
}

static void instants(void)
{
	struct sonde_span s;
	expect("instant", "now", NULL, 0);
	sonde_instant("now");
	expect("instant", "here", "where", 0);
	sonde_instant("here", "where");
	sonde_instant_begin(&s, "full", "where");
	sonde_arg_int(&s, "n", 1);
	sonde_instant_end(&s);
	expect_head("instant", "full", "where", 0);
	expect_arg_int("n", 1);
	expect_end();
}

static void values(void)
{
	static const double recorded[] = { 0, -0.5, 1e300, 5e-324 }, left_out[] = { NAN, INFINITY, -INFINITY };
	for (size_t i = 0; i < sizeof(recorded) / sizeof(*recorded); i++) {
		sonde_counter("queue", recorded[i]);
		expect_head("counter", "queue", NULL, 0);
		printf(" %.17g\n", recorded[i]);
	}
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		sonde_counter("queue", left_out[i]);
	for (int i = -1; i < 3; i++) {
		double value = i == 0 ? (double)NAN : i == 1 ? (double)INFINITY : i;
		sonde_step("train", i, value);
		expect_head("step", "train", NULL, 0);
		printf(" %d %.17g\n", i, value);
	}
	sonde_meta("config", "lr=0.1 \"quoted\"");
	expect_head("meta", "config", NULL, 0);
	expect_arg_text("config", "lr=0.1 \"quoted\"", 15);
	expect_end();
}

static void names_made_on_the_fly(void)
{
	char name[32];
	for (int i = 0; i < 100; i++) {
		struct sonde_span s;
		snprintf(name, sizeof(name), "item %d", i % 10);
		expect("span", name, NULL, 0);
		expect("instant", "literal", name, 1);
		sonde_span_begin(&s, name);
		sonde_instant("literal", name);
		memset(name, 'z', sizeof(name) - 1); /* the name was taken at the beginning */
		sonde_span_end(&s);
	}
}

int main(void)
{
	nesting();
	typed_arguments();
	hostile_strings();
	long_strings();
	cut_characters();
	too_many_arguments();
	instants();
	values();
	names_made_on_the_fly();
	return 0;
}
