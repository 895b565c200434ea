/*
 * Bounded integers by Lemire's multiplication (ACM TOMACS 29(1), 2019), normal values by Marsaglia's polar method
 * (SIAM Review 6(3), 1964), order by Durstenfeld's shuffle (CACM 7(7), 1964).
 */
#include "stats/rng.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide;

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* The stream number is mixed before it is combined with the seed: adjacent seeds or streams are independent. */
void stats_rng_init(struct stats_rng *r, uint64_t seed, uint64_t stream)
{
	uint64_t state = seed ^ splitmix(&stream);

	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix(&state);
}

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

uint64_t stats_rng_next(struct stats_rng *r)
{
	uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

static void jump(struct stats_rng *r)
{
	static const uint64_t poly[] = { 0x180ec6d33cfd0aba, 0xd5a61266f0c9392c, 0xa9582618e03fc9aa,
		0x39abdc4529b1661c };
	uint64_t sum[4] = { 0 };

	for (int bit = 0; bit < 256; bit++) {
		for (int i = 0; i < 4; i++)
			if (poly[bit / 64] >> bit % 64 & 1)
				sum[i] ^= r->s[i];
		stats_rng_next(r);
	}
	for (int i = 0; i < 4; i++)
		r->s[i] = sum[i];
}

struct stats_rng stats_rng_split(struct stats_rng *r)
{
	struct stats_rng child = *r;

	jump(r);
	return child;
}

uint64_t stats_rng_below(struct stats_rng *r, uint64_t n)
{
	wide m = (wide)stats_rng_next(r) * n;

	if ((uint64_t)m < n) {
		uint64_t unfair = -n % n;

		while ((uint64_t)m < unfair)
			m = (wide)stats_rng_next(r) * n;
	}
	return (uint64_t)(m >> 64);
}

double stats_rng_uniform(struct stats_rng *r)
{
	return (double)(stats_rng_next(r) >> 11) * 0x1p-53;
}

double stats_rng_open(struct stats_rng *r)
{
	return ((double)(stats_rng_next(r) >> 12) + 0.5) * 0x1p-52;
}

double stats_rng_normal(struct stats_rng *r)
{
	double u, v, q;

	do {
		u = 2 * stats_rng_uniform(r) - 1;
		v = 2 * stats_rng_uniform(r) - 1;
		q = u * u + v * v;
	} while (q >= 1 || q == 0);
	return u * sqrt(-2 * log(q) / q);
}

double stats_rng_exponential(struct stats_rng *r)
{
	return -log(stats_rng_open(r));
}

static void swap_bytes(unsigned char *a, unsigned char *b, size_t n)
{
	while (n--) {
		unsigned char t = *a;

		*a++ = *b;
		*b++ = t;
	}
}

void stats_rng_shuffle(struct stats_rng *r, void *items, size_t n, size_t size)
{
	unsigned char *base = items;

	for (size_t left = n; left > 1; left--) {
		size_t pick = (size_t)stats_rng_below(r, left);

		swap_bytes(base + pick * size, base + (left - 1) * size, size);
	}
}
