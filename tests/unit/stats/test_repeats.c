/* Loops that were planted are found, with their number and place; where there is none, none is. */
#include "../support.h"

#include "stats/loop-detect.h"

#include <stdlib.h>

static uint64_t state;

static uint32_t next(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % below);
}

struct stream {
	uint32_t tokens[200000];
	size_t count;
	size_t starts[200];
};

/* Iterations of `length` tokens: one of twenty tokens is lost, foreign or doubled, lengths differ by a tenth. */
static void plant(struct stream *s, size_t iterations, size_t length, uint32_t alphabet, uint64_t seed)
{
	uint32_t pattern[2000];

	state = seed;
	s->count = 0;
	for (size_t i = 0; i < length; i++)
		pattern[i] = next(alphabet);
	for (size_t i = 0; i < length / 2; i++)
		s->tokens[s->count++] = alphabet + next(alphabet);
	for (size_t k = 0; k < iterations; k++) {
		size_t longer = next(2) ? next((uint32_t)(length / 10 + 1)) : 0,
		       shorter = longer ? 0 : next((uint32_t)(length / 10 + 1));

		s->starts[k] = s->count;
		for (size_t i = 0; i < length - shorter; i++) {
			uint32_t luck = next(60);

			if (luck > 0)
				s->tokens[s->count++] = luck == 1 ? alphabet + next(alphabet) : pattern[i];
			if (luck == 2)
				s->tokens[s->count++] = alphabet + next(alphabet);
		}
		for (size_t i = 0; i < longer; i++)
			s->tokens[s->count++] = 2 * alphabet + next(alphabet);
	}
	for (size_t i = 0; i < length / 2; i++)
		s->tokens[s->count++] = alphabet + next(alphabet);
}

static void check(struct stream *s, size_t iterations, size_t length)
{
	struct stats_repeats r;

	assert_int_equal(stats_repeats_find(&r, s->tokens, s->count), 0);
	assert_int_equal(r.count, iterations);
	for (size_t k = 0; k < iterations; k++) {
		/* Where in the body an iteration is said to begin is open, but it is the same place in each. */
		long shift = (long)r.starts[k] - (long)s->starts[k], first = (long)r.starts[0] - (long)s->starts[0];

		assert_true(labs(shift - first) <= (long)length / 4 + 2);
	}
	assert_true(r.length > length * 4 / 5 && r.length < length * 6 / 5);
	stats_repeats_release(&r);
}

static void finds_twenty_among_noise(void **arg)
{
	static struct stream s;
	static const size_t lengths[] = { 40, 100, 500, 1500 };

	(void)arg;
	for (uint64_t seed = 1; seed <= 20; seed++)
		for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
			plant(&s, 20, lengths[i], 25, seed);
			check(&s, 20, lengths[i]);
		}
}

static void finds_any_number(void **arg)
{
	static struct stream s;
	static const size_t counts[] = { 7, 12, 33, 100 };

	(void)arg;
	for (uint64_t seed = 1; seed <= 5; seed++)
		for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
			plant(&s, counts[i], 80, 40, seed);
			check(&s, counts[i], 80);
		}
}

static void finds_none_where_none_is(void **arg)
{
	static struct stream s;
	struct stats_repeats r;

	(void)arg;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		state = seed;
		for (s.count = 0; s.count < 20000; s.count++)
			s.tokens[s.count] = next(seed < 10 ? 10 : 400);
		assert_int_equal(stats_repeats_find(&r, s.tokens, s.count), 0);
		assert_int_equal(r.count, 0);
		stats_repeats_release(&r);
	}
	for (size_t i = 0; i < 1000; i++)
		s.tokens[i] = 7;
	for (size_t n = 0; n < 1000; n += n < 20 ? 1 : 490) {
		assert_int_equal(stats_repeats_find(&r, s.tokens, n), 0);
		assert_int_equal(r.count, 0);
		stats_repeats_release(&r);
	}
}

static void prefers_the_outer_loop(void **arg)
{
	static struct stream s;
	struct stats_repeats r;

	(void)arg;
	s.count = 0;
	for (size_t k = 0; k < 10; k++) {
		s.tokens[s.count++] = 1;
		for (size_t i = 0; i < 30; i++) {
			s.tokens[s.count++] = 2;
			s.tokens[s.count++] = 3;
			s.tokens[s.count++] = 4;
		}
		s.tokens[s.count++] = 5;
	}
	assert_int_equal(stats_repeats_find(&r, s.tokens, s.count), 0);
	assert_int_equal(r.count, 10);
	assert_int_equal(r.length, 92);
	assert_int_equal(r.starts[0], 0);
	stats_repeats_release(&r);
}

/* Token 100 stands for what is nobody's; the body is 0 to 9. */
static size_t body(struct stream *s, size_t from, size_t to, size_t every)
{
	for (size_t i = from; i < to; i++)
		s->tokens[s->count++] = every && i % every == 0 ? 100 : (uint32_t)i;
	return s->count;
}

static void finds_both_ends(void **arg)
{
	static struct stream s;
	struct stats_repeats r;

	(void)arg;
	for (size_t lead = 0; lead < 10; lead += 3)
		for (size_t noise = 0; noise < 3; noise++) {
			s.count = 0;
			body(&s, lead, 10, 0); /* a part of one is none */
			for (size_t i = 0; i < 15; i++)
				s.tokens[s.count++] = 100 + (uint32_t)i;
			for (size_t k = 0; k < 12; k++)
				s.starts[k] = body(&s, 0, 10, k == 0 || k == 11 ? 4 * noise : 0) - 10;
			for (size_t i = 0; i < 15; i++)
				s.tokens[s.count++] = 200 + (uint32_t)i;
			assert_int_equal(stats_repeats_find(&r, s.tokens, s.count), 0);
			assert_int_equal(r.count, 12);
			assert_true(r.starts[0] + 2 >= s.starts[0] && r.starts[0] <= s.starts[0] + 2);
			assert_true(r.confidence > 0.8);
			stats_repeats_release(&r);
		}
}

static void survives_a_lack_of_memory(void **arg)
{
	static struct stream s;
	struct stats_repeats r;
	size_t good = 0;
	int rc;

	(void)arg;
	plant(&s, 20, 50, 20, 3);
	do {
		alloc_fail_after(good++);
		rc = stats_repeats_find(&r, s.tokens, s.count);
		if (rc < 0)
			assert_int_equal(r.count, 0);
		stats_repeats_release(&r);
	} while (alloc_has_failed() && good < 1000);
	alloc_fail_never();
	assert_int_equal(rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_twenty_among_noise),
		cmocka_unit_test(finds_any_number),
		cmocka_unit_test(finds_none_where_none_is),
		cmocka_unit_test(prefers_the_outer_loop),
		cmocka_unit_test(finds_both_ends),
		cmocka_unit_test(survives_a_lack_of_memory),
	};

	return RUN_TESTS(tests);
}
