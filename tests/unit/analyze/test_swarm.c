/*
 * Function clusters against average linkage made by hand: the mean cosine of all pairs of members, computed afresh in
 * every step. Profiles are a few spikes far from each other, which smoothing makes equally wide: cosines are those of
 * the spikes' weights.
 */
#include "support.h"

#include "analyze/swarm.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SPIKES = 8, MAJORS = 14, ALL = 18 };

static uint32_t random_state;

/* A fixed sequence: a failure is the same in every run. */
static double next_random(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (double)(random_state >> 8) / (1 << 24);
}

static double weights[ALL][SPIKES];

static double cosine(size_t i, size_t k)
{
	double dot = 0, a = 0, b = 0;

	for (size_t s = 0; s < SPIKES; s++) {
		dot += weights[i][s] * weights[k][s];
		a += weights[i][s] * weights[i][s];
		b += weights[k][s] * weights[k][s];
	}
	return dot / sqrt(a * b);
}

/* The mean over all pairs of members of two groups. */
static double near_of(const int *group, int a, int b)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < MAJORS; i++)
		for (size_t k = 0; k < MAJORS; k++)
			if (group[i] == a && group[k] == b) {
				sum += cosine(i, k);
				n++;
			}
	return n ? sum / (double)n : -1;
}

static void link_by_hand(int group[ALL])
{
	for (int i = 0; i < MAJORS; i++)
		group[i] = i;
	for (;;) {
		double best = SWARM_NEAR;
		int into = -1, from = -1;

		for (int a = 0; a < MAJORS; a++)
			for (int b = a + 1; b < MAJORS; b++)
				if (near_of(group, a, b) > best) {
					best = near_of(group, a, b);
					into = a;
					from = b;
				}
		if (into < 0)
			break;
		for (int i = 0; i < MAJORS; i++)
			group[i] = group[i] == from ? into : group[i];
	}
	for (size_t i = MAJORS; i < ALL; i++) {
		size_t best = 0;

		for (size_t k = 1; k < MAJORS; k++)
			best = cosine(i, k) > cosine(i, best) ? k : best;
		group[i] = group[best];
	}
}

static void clusters_are_of_average_linkage(void **state)
{
	static struct swarm_function f[ALL];
	size_t merged = 0;

	(void)state;
	random_state = 1;
	for (int round = 0; round < 40; round++) {
		int group[ALL], count = 0, swarms;
		bool is_numbered[ALL] = { false };

		memset(f, 0, sizeof(f));
		for (size_t i = 0; i < ALL; i++) {
			f[i].samples = i < MAJORS ? 25 : 2;
			for (size_t s = 0; s < SPIKES; s++) {
				weights[i][s] = next_random() < 0.5 ? next_random() : 0.01;
				f[i].profile[s / 2 * SWARM_BUCKETS + 10 + s % 2 * 40] = (float)weights[i][s];
			}
		}
		link_by_hand(group);
		swarms = swarm_group(f, ALL);
		for (size_t i = 0; i < ALL; i++) {
			assert_true(f[i].swarm >= 0 && f[i].swarm < swarms);
			is_numbered[f[i].swarm] = true;
			for (size_t k = 0; k < ALL; k++)
				assert_int_equal(f[i].swarm == f[k].swarm, group[i] == group[k]);
		}
		while (count < ALL && is_numbered[count])
			count++;
		assert_int_equal(count, swarms);
		assert_int_equal(f[0].swarm, 0); /* numbered in the order of the functions */
		merged += swarms < MAJORS;
	}
	assert_true(merged > 30); /* the rounds were worth it */
}

static void few_samples_do_not_found_a_swarm(void **state)
{
	static struct swarm_function f[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		f[i].profile[10 + 20 * i] = 1;
	f[0].samples = 1000;
	f[1].samples = 20; /* enough, whatever its share */
	f[2].samples = 19; /* neither enough nor 0.4 % of 10000 */
	f[0].samples = 10000;
	assert_int_equal(swarm_group(f, 3), 2);
	assert_int_equal(f[1].swarm, 1);
	assert_true(f[2].swarm < 2);
	memset(f, 0, sizeof(f));
	for (int i = 0; i < 3; i++) {
		f[i].profile[10 + 20 * i] = 1;
		f[i].samples = 3 - i; /* three are enough where they are a share */
	}
	assert_int_equal(swarm_group(f, 3), 1);
	memset(f, 0, sizeof(f));
	for (int i = 0; i < 3; i++) {
		f[i].profile[10 + 20 * i] = 1;
		f[i].samples = 1; /* nothing has enough: all of a few */
	}
	assert_int_equal(swarm_group(f, 3), 3);
	assert_int_equal(swarm_group(f, 0), 0);
}

/* Neighbouring intervals are near, those further off are not. */
static void neighbours_are_near(void **state)
{
	static const int distances[] = { 0, 1, 2, 3, 5 };
	static const int swarms[] = { 1, 1, 2, 2, 2 }; /* cosines 1, 0.82, 0.51, ... */
	static struct swarm_function f[2];

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		memset(f, 0, sizeof(f));
		f[0].samples = f[1].samples = 25;
		f[0].profile[30] = 1;
		f[1].profile[30 + distances[i]] = 1;
		assert_int_equal(swarm_group(f, 2), swarms[i]);
	}
	/* The last interval of a thread and the first of the next are not neighbours. */
	memset(f, 0, sizeof(f));
	f[0].samples = f[1].samples = 25;
	f[0].profile[SWARM_BUCKETS - 1] = 1;
	f[1].profile[SWARM_BUCKETS] = 1;
	assert_int_equal(swarm_group(f, 2), 2);
}

static void ids_are_of_names(void **state)
{
	char id[SWARM_ID_BYTES];

	(void)state;
	swarm_id(id, "");
	assert_string_equal(id, "s-811c9dc5"); /* FNV-1a's own test vectors */
	swarm_id(id, "a");
	assert_string_equal(id, "s-e40c292c");
	swarm_id(id, "foobar");
	assert_string_equal(id, "s-bf9cf968");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clusters_are_of_average_linkage),
		cmocka_unit_test(few_samples_do_not_found_a_swarm),
		cmocka_unit_test(neighbours_are_near),
		cmocka_unit_test(ids_are_of_names),
	};

	return RUN_TESTS(tests);
}
