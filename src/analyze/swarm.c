#include "analyze/swarm.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAJOR_MAX 200     /* maximum functions that form swarms */
#define MAJOR_SHARE 0.004 /* minimum share of all samples */
#define MAJOR_SAMPLES 3
#define MAJOR_ENOUGH 20 /* number of samples that suffices for a profile, whatever the share */

/* Smooths over neighbouring intervals, since samples are few, and normalizes to length 1. */
static void smooth(float *profile)
{
	float out[SWARM_PLACES];
	double squares = 0;

	for (size_t t = 0; t < SWARM_THREADS; t++) {
		const float *in = profile + t * SWARM_BUCKETS;

		for (size_t i = 0; i < SWARM_BUCKETS; i++) {
			float near = (i ? in[i - 1] : 0) + (i + 1 < SWARM_BUCKETS ? in[i + 1] : 0);
			float far = (i > 1 ? in[i - 2] : 0) + (i + 2 < SWARM_BUCKETS ? in[i + 2] : 0);

			out[t * SWARM_BUCKETS + i] = in[i] + 0.6F * near + 0.3F * far;
		}
	}
	for (size_t i = 0; i < SWARM_PLACES; i++)
		squares += (double)out[i] * (double)out[i];
	for (size_t i = 0; i < SWARM_PLACES; i++)
		profile[i] = squares > 0 ? (float)((double)out[i] / sqrt(squares)) : 0;
}

static float dot(const float *a, const float *b)
{
	float sums[8] = { 0 }, sum = 0;

	for (size_t i = 0; i < SWARM_PLACES; i += 8)
		for (size_t k = 0; k < 8; k++)
			sums[k] += a[i + k] * b[i + k];
	for (size_t k = 0; k < 8; k++)
		sum += sums[k];
	return sum;
}

static size_t count_majors(const struct swarm_function *f, size_t count)
{
	double all = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		all += (double)f[i].samples;
	while (n < count && n < MAJOR_MAX && f[n].samples >= MAJOR_SAMPLES &&
			(f[n].samples >= MAJOR_ENOUGH || (double)f[n].samples >= MAJOR_SHARE * all))
		n++;
	return n ? n : count < 8 ? count : 8;
}

/* Average linkage: near[i][j] is the mean cosine of the members of i and j. */
struct linkage {
	size_t n;
	float *near;
	size_t *sizes; /* 0: merged into another */
	int *into;
};

static void merge(struct linkage *l, size_t i, size_t j)
{
	size_t n = l->n;

	for (size_t k = 0; k < n; k++) {
		float both = (l->near[i * n + k] * (float)l->sizes[i] + l->near[j * n + k] * (float)l->sizes[j]) /
				(float)(l->sizes[i] + l->sizes[j]);

		l->near[i * n + k] = l->near[k * n + i] = both;
	}
	l->sizes[i] += l->sizes[j];
	l->sizes[j] = 0;
	for (size_t k = 0; k < n; k++)
		if (l->into[k] == (int)j)
			l->into[k] = (int)i;
}

static void link_majors(struct linkage *l)
{
	for (;;) {
		size_t best_i = 0, best_j = 0;
		float best = (float)SWARM_NEAR;

		for (size_t i = 0; i < l->n; i++)
			for (size_t j = i + 1; l->sizes[i] && j < l->n; j++)
				if (l->sizes[j] && l->near[i * l->n + j] > best) {
					best = l->near[i * l->n + j];
					best_i = i;
					best_j = j;
				}
		if (best_i == best_j)
			return;
		merge(l, best_i, best_j);
	}
}

/* Returns the swarm of the major function with the nearest profile. */
static int nearest(const struct swarm_function *f, size_t majors, const float *profile)
{
	size_t best = 0;
	float most = -1;

	for (size_t i = 0; i < majors; i++) {
		float near = dot(f[i].profile, profile);

		if (near > most) {
			most = near;
			best = i;
		}
	}
	return f[best].swarm;
}

int swarm_group(struct swarm_function *f, size_t count)
{
	struct linkage l = { .n = count_majors(f, count) };
	int swarms = -ENOMEM;

	for (size_t i = 0; i < count; i++)
		smooth(f[i].profile);
	l.near = calloc(l.n * l.n + 1, sizeof(*l.near));
	l.sizes = calloc(l.n + 1, sizeof(*l.sizes));
	l.into = calloc(l.n + 1, sizeof(*l.into));
	if (l.near && l.sizes && l.into) {
		for (size_t i = 0; i < l.n; i++) {
			l.sizes[i] = 1;
			l.into[i] = (int)i;
			for (size_t j = 0; j < l.n; j++)
				l.near[i * l.n + j] = dot(f[i].profile, f[j].profile);
		}
		link_majors(&l);
		swarms = 0;
		for (size_t i = 0; i < l.n; i++) {
			if (l.into[i] == (int)i)
				f[i].swarm = swarms++;
			else
				f[i].swarm = f[l.into[i]].swarm; /* merged into an earlier one: use its number */
		}
		for (size_t i = l.n; i < count; i++)
			f[i].swarm = nearest(f, l.n, f[i].profile);
	}
	free(l.near);
	free(l.sizes);
	free(l.into);
	return swarms;
}

/* FNV-1a: the same on every machine. */
void swarm_id(char id[SWARM_ID_BYTES], const char *name)
{
	uint32_t h = 2166136261U;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619U;
	snprintf(id, SWARM_ID_BYTES, "s-%08" PRIx32, h);
}
