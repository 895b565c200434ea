/*
 * Bounded integers by Lemire's multiplication (ACM TOMACS 29(1), 2019), normal values by Marsaglia's polar method
 * (SIAM Review 6(3), 1964), order by Durstenfeld's shuffle (CACM 7(7), 1964). Sobol's points: direction numbers by Joe
 * and Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30(5), 2008,
 * their table new-joe-kuo-6; scrambling by Burley, "Practical hash-based Owen scrambling", JCGT 9(4), 2020.
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

enum { BITS = 32, DEGREE_MAX = 9 };

/* For each dimension after the first: its primitive polynomial as bits, and the first odd direction numbers. */
static const struct direction {
	uint16_t polynomial;
	uint16_t m[DEGREE_MAX];
} directions[STATS_SOBOL_DIMS - 1] = {
	/* clang-format off */
	{ 3, { 1 } },
	{ 7, { 1, 3 } },
	{ 11, { 1, 3, 1 } },
	{ 13, { 1, 1, 1 } },
	{ 19, { 1, 1, 3, 3 } },
	{ 25, { 1, 3, 5, 13 } },
	{ 37, { 1, 1, 5, 5, 17 } },
	{ 41, { 1, 1, 5, 5, 5 } },
	{ 47, { 1, 1, 7, 11, 19 } },
	{ 55, { 1, 1, 5, 1, 1 } },
	{ 59, { 1, 1, 1, 3, 11 } },
	{ 61, { 1, 3, 5, 5, 31 } },
	{ 67, { 1, 3, 3, 9, 7, 49 } },
	{ 91, { 1, 1, 1, 15, 21, 21 } },
	{ 97, { 1, 3, 1, 13, 27, 49 } },
	{ 103, { 1, 1, 1, 15, 7, 5 } },
	{ 109, { 1, 3, 1, 15, 13, 25 } },
	{ 115, { 1, 1, 5, 5, 19, 61 } },
	{ 131, { 1, 3, 7, 11, 23, 15, 103 } },
	{ 137, { 1, 3, 7, 13, 13, 15, 69 } },
	{ 143, { 1, 1, 3, 13, 7, 35, 63 } },
	{ 145, { 1, 3, 5, 9, 1, 25, 53 } },
	{ 157, { 1, 3, 1, 13, 9, 35, 107 } },
	{ 167, { 1, 3, 1, 5, 27, 61, 31 } },
	{ 171, { 1, 1, 5, 11, 19, 41, 61 } },
	{ 185, { 1, 3, 5, 3, 3, 13, 69 } },
	{ 191, { 1, 1, 7, 13, 1, 19, 1 } },
	{ 193, { 1, 3, 7, 5, 13, 19, 59 } },
	{ 203, { 1, 1, 3, 9, 25, 29, 41 } },
	{ 211, { 1, 3, 5, 13, 23, 1, 55 } },
	{ 213, { 1, 3, 7, 3, 13, 59, 17 } },
	{ 229, { 1, 3, 1, 3, 5, 53, 69 } },
	{ 239, { 1, 1, 5, 5, 23, 33, 13 } },
	{ 241, { 1, 1, 7, 7, 1, 61, 123 } },
	{ 247, { 1, 1, 7, 9, 13, 61, 49 } },
	{ 253, { 1, 3, 3, 5, 3, 55, 33 } },
	{ 285, { 1, 3, 1, 15, 31, 13, 49, 245 } },
	{ 299, { 1, 3, 5, 15, 31, 59, 63, 97 } },
	{ 301, { 1, 3, 1, 11, 11, 11, 77, 249 } },
	{ 333, { 1, 3, 1, 11, 27, 43, 71, 9 } },
	{ 351, { 1, 1, 7, 15, 21, 11, 81, 45 } },
	{ 355, { 1, 3, 7, 3, 25, 31, 65, 79 } },
	{ 357, { 1, 3, 1, 1, 19, 11, 3, 205 } },
	{ 361, { 1, 1, 5, 9, 19, 21, 29, 157 } },
	{ 369, { 1, 3, 7, 11, 1, 33, 89, 185 } },
	{ 391, { 1, 3, 3, 3, 15, 9, 79, 71 } },
	{ 397, { 1, 3, 7, 11, 15, 39, 119, 27 } },
	{ 425, { 1, 1, 3, 1, 11, 31, 97, 225 } },
	{ 451, { 1, 1, 1, 3, 23, 43, 57, 177 } },
	{ 463, { 1, 3, 7, 7, 17, 17, 37, 71 } },
	{ 487, { 1, 3, 1, 5, 27, 63, 123, 213 } },
	{ 501, { 1, 1, 3, 5, 11, 43, 53, 133 } },
	{ 529, { 1, 3, 5, 5, 29, 17, 47, 173, 479 } },
	{ 539, { 1, 3, 3, 11, 3, 1, 109, 9, 69 } },
	{ 545, { 1, 1, 1, 5, 17, 39, 23, 5, 343 } },
	{ 557, { 1, 3, 1, 5, 25, 15, 31, 103, 499 } },
	{ 563, { 1, 1, 1, 11, 11, 17, 63, 105, 183 } },
	{ 601, { 1, 1, 5, 11, 9, 29, 97, 231, 363 } },
	{ 607, { 1, 1, 5, 15, 19, 45, 41, 7, 383 } },
	{ 617, { 1, 3, 7, 7, 31, 19, 83, 137, 221 } },
	{ 623, { 1, 1, 1, 3, 23, 15, 111, 223, 83 } },
	{ 631, { 1, 1, 5, 13, 31, 15, 55, 25, 161 } },
	{ 637, { 1, 1, 3, 13, 25, 47, 39, 87, 257 } },
	/* clang-format on */
};

static unsigned degree_of(unsigned polynomial)
{
	unsigned degree = 0;

	while (polynomial >>= 1)
		degree++;
	return degree;
}

static void fill_directions(uint32_t v[BITS], const struct direction *d)
{
	unsigned degree = degree_of(d->polynomial);

	for (unsigned i = 0; i < BITS; i++) {
		if (i < degree) {
			v[i] = (uint32_t)d->m[i] << (BITS - 1 - i);
			continue;
		}
		v[i] = v[i - degree] ^ v[i - degree] >> degree;
		for (unsigned k = 1; k < degree; k++)
			if (d->polynomial >> (degree - k) & 1)
				v[i] ^= v[i - k];
	}
}

void stats_sobol_init(struct stats_sobol *s, size_t dims, uint64_t seed)
{
	struct stats_rng rng;

	s->dims = dims < STATS_SOBOL_DIMS ? dims : STATS_SOBOL_DIMS;
	stats_rng_init(&rng, seed, 0x50b01);
	for (size_t j = 0; j < s->dims; j++) {
		s->scramble[j] = (uint32_t)(stats_rng_next(&rng) >> 32);
		if (j > 0)
			fill_directions(s->v[j], &directions[j - 1]);
		else
			for (unsigned i = 0; i < BITS; i++)
				s->v[0][i] = (uint32_t)1 << (BITS - 1 - i);
	}
}

static uint32_t reverse(uint32_t x)
{
	x = __builtin_bswap32(x);
	x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
	x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
	return (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
}

/*
 * A random permutation at every node of the binary tree of intervals, by a hash in which bits affect only higher
 * ones.
 */
static uint32_t scramble(uint32_t x, uint32_t seed)
{
	x = reverse(x);
	x ^= x * 0x3d20adeau;
	x += seed;
	x *= (seed >> 16) | 1;
	x ^= x * 0x05526c56u;
	x ^= x * 0x53a22864u;
	return reverse(x);
}

void stats_sobol_point(const struct stats_sobol *s, uint32_t index, double *x)
{
	for (size_t j = 0; j < s->dims; j++) {
		uint32_t bits = 0;

		for (uint32_t rest = index, i = 0; rest; rest >>= 1, i++)
			if (rest & 1)
				bits ^= s->v[j][i];
		x[j] = (scramble(bits, s->scramble[j]) + 0.5) * 0x1p-32;
	}
}
