/* clockfit: offset and drift of another clock are found within the bound that is stated. */
#include "../support.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

#define PINGS 200

/* Another clock: where it stands when ours says t_ns. */
struct other {
	int64_t offset_ns;
	double drift;
};

static int64_t theirs(const struct other *o, int64_t t_ns)
{
	return t_ns + o->offset_ns + (int64_t)(o->drift * (double)t_ns);
}

/* Trips of 50 us to 2 ms, their halves unequal as can be. */
static void make_pings(const struct other *o, struct clock_ping *pings, size_t n, int64_t span_ns)
{
	uint64_t seed = 1;
	for (size_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		int64_t out = 25000 + (int64_t)(seed >> 33) % 1000000, back = 25000 + (int64_t)(seed >> 11) % 1000000;
		int64_t t = (int64_t)i * (span_ns / (int64_t)n);
		pings[i] = (struct clock_ping){ .sent_ns = t,
			.theirs_ns = theirs(o, t + out),
			.received_ns = t + out + back };
	}
}

static void check(const struct other *o, int64_t span_ns)
{
	struct clock_ping pings[PINGS];
	struct clock_fit f;
	make_pings(o, pings, PINGS, span_ns);
	assert_int_equal(clock_fit(pings, PINGS, &f), 0);
	assert_int_equal(f.pings, PINGS);
	for (int64_t t = 0; t <= span_ns; t += span_ns / 100) {
		int64_t error = clock_fit_ours(&f, theirs(o, t)) - t;
		assert_true(llabs(error) <= f.bound_ns + f.bound_ns / 10);
	}
	assert_true(f.bound_ns < 1100000);
}

static void offsets_are_found(void **state)
{
	check(&(struct other){ .offset_ns = 0 }, 10000000000);
	check(&(struct other){ .offset_ns = 50000000000000 }, 10000000000);
	check(&(struct other){ .offset_ns = -7 }, 10000000000);
}

static void drift_is_found(void **state)
{
	check(&(struct other){ .offset_ns = 123456789, .drift = 100e-6 }, 600000000000);
	check(&(struct other){ .offset_ns = -5000000000, .drift = -50e-6 }, 3600000000000);
}

static void a_clock_that_was_set_widens_the_bound(void **state)
{
	struct clock_ping pings[PINGS];
	struct clock_fit f;
	make_pings(&(struct other){ 0 }, pings, PINGS, 10000000000);
	for (size_t i = PINGS / 2; i < PINGS; i++)
		pings[i].theirs_ns += 50000000; /* 50 ms ahead of a sudden */
	assert_int_equal(clock_fit(pings, PINGS, &f), 0);
	assert_true(f.bound_ns > 10000000);
}

static void one_ping_is_enough_and_none_is_not(void **state)
{
	struct clock_ping one = { .sent_ns = 1000, .theirs_ns = 5000, .received_ns = 3000 };
	struct clock_fit f;
	assert_int_equal(clock_fit(&one, 1, &f), 0);
	assert_in_range(f.bound_ns, 1000, 1010);
	assert_int_equal(clock_fit_ours(&f, 5000), 2000);
	assert_int_equal(clock_fit(NULL, 0, &f), -EINVAL);
	one.received_ns = 0; /* back before it was sent */
	assert_int_equal(clock_fit(&one, 1, &f), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_found),
		cmocka_unit_test(drift_is_found),
		cmocka_unit_test(a_clock_that_was_set_widens_the_bound),
		cmocka_unit_test(one_ping_is_enough_and_none_is_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
