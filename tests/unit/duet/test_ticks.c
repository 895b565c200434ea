/* ticks: round, within, as many as fit. */
#include "../support.h"

#include "duet/duet-report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* All labels of a stretch, with blanks between. */
static const char *labels(double lo, double hi, size_t most)
{
	static char text[512];
	struct duet_ticks t = duet_ticks_for(lo, hi, most);

	text[0] = '\0';
	for (size_t i = 0; i < t.count; i++) {
		char label[32];

		duet_tick_label(&t, i, label, sizeof(label));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? ", " : "", label);
	}
	return text;
}

static void ticks_are_round(void **state)
{
	assert_string_equal(labels(-1.3, 4.9, 5), "0 %, +2 %, +4 %");
	assert_string_equal(labels(-1.3, 4.9, 8), "-1 %, 0 %, +1 %, +2 %, +3 %, +4 %");
	assert_string_equal(labels(-0.031, 0.034, 5), "-0.02 %, 0 %, +0.02 %");
	assert_string_equal(labels(0, 100, 5), "0 %, +50 %, +100 %");
	assert_string_equal(labels(-900, 2100, 4), "0 %, +1000 %, +2000 %");
}

static void any_stretch_has_ticks(void **state)
{
	random_init();
	for (size_t i = 0; i < 20000; i++) {
		double size = pow(10, (double)random_below(12) - 6),
		       lo = size * ((double)random_below(2000) / 1000 - 1);
		double hi = lo + size * (double)(1 + random_below(1000)) / 1000;
		size_t most = 2 + random_below(9);
		struct duet_ticks t = duet_ticks_for(lo, hi, most);

		/* of steps 1, 2, 5 the next closer one has at most 2.5 times as many */
		assert_true(t.count <= most && (double)t.count >= floor((double)most / 2.5) - 1);
		for (size_t k = 0; k < t.count; k++)
			assert_true(duet_tick(&t, k) >= lo - 1e-9 * size && duet_tick(&t, k) <= hi + 1e-9 * size);
	}
}

static void what_is_no_stretch_has_none(void **state)
{
	assert_int_equal(duet_ticks_for(1, 1, 5).count, 0);
	assert_int_equal(duet_ticks_for(2, 1, 5).count, 0);
	assert_int_equal(duet_ticks_for(NAN, 1, 5).count, 0);
	assert_int_equal(duet_ticks_for(-INFINITY, 1, 5).count, 0);
	assert_int_equal(duet_ticks_for(0, 1, 0).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_are_round),
		cmocka_unit_test(any_stretch_has_ticks),
		cmocka_unit_test(what_is_no_stretch_has_none),
	};

	return RUN_TESTS(tests);
}
