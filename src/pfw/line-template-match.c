/*
 * The quick scanner: compare what stays, convert what does not; see line-template.h.
 *
 * Numbers: 16 bytes are taken at once, the digits among them counted and moved
 * to the end of the register, and multiplied pairwise (10, 100, 10^4, 10^8), as
 * Wojciech Mula describes in "SIMD-ized parsing of unsigned integers" (2014).
 * Every load may read up to 32 bytes beyond the line; callers pad the text.
 */
#include "pfw/line-template-private.h"

#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define WIDE __attribute__((target("avx2,bmi")))
#define NUMBER_BYTES_MAX 32
#define INLINE static inline __attribute__((always_inline))

bool pfw_shapes_work(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
}

/* One bit a byte that is equal. */
INLINE WIDE uint32_t same_bytes(const char *a, const char *b)
{
	__m256i left = _mm256_loadu_si256((const __m256i_u *)a);
	__m256i right = _mm256_loadu_si256((const __m256i_u *)b);

	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(left, right));
}

/* What stays, of up to 64 bytes nearly always. */
INLINE WIDE bool is_fixed(const char *at, const char *fixed, uint32_t bytes, uint32_t mask)
{
	if ((~same_bytes(at, fixed) & mask) != 0)
		return false;
	while (bytes > 32) {
		at += 32;
		fixed += 32;
		bytes -= 32;
		mask = bytes >= 32 ? UINT32_MAX : (1u << bytes) - 1;
		if ((~same_bytes(at, fixed) & mask) != 0)
			return false;
	}
	return true;
}

/* Constants that stay in registers over a whole line: the compiler would make them anew for every number. */
struct wide {
	__m128i zero, nine, tens, hundreds, myriads;
};

#define KEEP(register) __asm__("" : "+x"(register))

INLINE WIDE struct wide wide_constants(void)
{
	struct wide w = { _mm_set1_epi8('0'), _mm_set1_epi8(9), _mm_set1_epi16(0x010a), _mm_set1_epi32(0x00010064),
		_mm_set1_epi32(0x00012710) };

	KEEP(w.zero);
	KEEP(w.nine);
	KEEP(w.tens);
	KEEP(w.hundreds);
	KEEP(w.myriads);
	return w;
}

/* How many digits are at `at`, up to 16; *digits gets their values. */
INLINE WIDE unsigned count_digits(const struct wide *w, const char *at, __m128i *digits)
{
	__m128i d = _mm_sub_epi8(_mm_loadu_si128((const __m128i_u *)at), w->zero);
	__m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(d, w->nine), d);

	*digits = d;
	return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(is_digit));
}

/* The first n of the digits, 1 to 16, as a number. */
INLINE WIDE uint64_t convert(const struct wide *w, __m128i digits, unsigned n)
{
	static const char places[32] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 4,
		5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	__m128i v = _mm_shuffle_epi8(digits, _mm_loadu_si128((const __m128i_u *)(places + n)));
	uint64_t eights;

	v = _mm_madd_epi16(_mm_maddubs_epi16(v, w->tens), w->hundreds);
	v = _mm_madd_epi16(_mm_packus_epi32(v, v), w->myriads);
	eights = (uint64_t)_mm_cvtsi128_si64(v);
	return (eights & UINT32_MAX) * 100000000u + (eights >> 32);
}

/* The least number of n digits, by n; 0 is of one. */
static const uint64_t least[17] = { 0, 0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
	10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000 };

/* A number that is no run of 1 to 16 digits: a negative one, or none; returns behind it, or NULL. */
static WIDE __attribute__((noinline)) const char *take_negative(const struct pfw_scale *scale, const char *at,
		int64_t *column)
{
	struct wide w = wide_constants();
	__m128i digits;
	unsigned n = *at == '-' ? count_digits(&w, ++at, &digits) : 0;
	int64_t v;

	if (n - 1 > 15 || *at == '0')
		return NULL;
	v = -(int64_t)convert(&w, digits, n);
	if (v < scale->min)
		return NULL;
	*column = v * scale->mul + scale->add;
	return at + n;
}

/*
 * Behind n bytes. Where lengths seldom change, guessing n, which the processor can go on with at once, is better than
 * waiting for it, and the compiler must not see that both are the same. Where they vary, waiting is better than wrong
 * guesses.
 */
INLINE const char *advance(struct slot *slot, const char *at, unsigned n)
{
	size_t usual = slot->usual;

	__asm__("" : "+r"(usual));
	if (usual == n)
		return at + usual;
	if (usual != USUAL_VARIES)
		slot->usual = (uint8_t)n;
	return at + n;
}

/* An integer of up to 16 digits; returns behind it. What is wrong with it adds to *bad, so that nobody waits. */
INLINE WIDE const char *take_int(const struct wide *w, struct slot *slot, const struct pfw_scale *scales,
		const char *at, int64_t *column, uint64_t *bad)
{
	__m128i digits;
	unsigned n = count_digits(w, at, &digits);
	uint64_t v;

	if (__builtin_expect(n - 1 > 15, false)) {
		at = take_negative(&scales[slot->scale], at, column);
		*bad |= !at;
		return at;
	}
	v = convert(w, digits, n);
	*bad |= v < least[n];
	if (slot->op == SLOT_SCALED) {
		const struct pfw_scale *scale = &scales[slot->scale];

		*bad |= v - (uint64_t)scale->min > (uint64_t)scale->max - (uint64_t)scale->min;
		v = v * (uint64_t)scale->mul + (uint64_t)scale->add;
	}
	*column = (int64_t)v;
	return advance(slot, at, n);
}

/* Behind a run of plain characters, at the quote that ends them; NULL when something else does. */
INLINE WIDE const char *take_string(const char *at)
{
	for (;; at += 32) {
		__m256i v = _mm256_loadu_si256((const __m256i_u *)at);
		__m256i ends = _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), v),
				_mm256_or_si256(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('"')),
						_mm256_cmpeq_epi8(v, _mm256_set1_epi8('\\'))));
		uint32_t mask = (uint32_t)_mm256_movemask_epi8(ends);

		if (mask) {
			at += __builtin_ctz(mask);
			return *at == '"' ? at : NULL;
		}
	}
}

/* A JSON number of that kind. What follows it is compared too, so nothing is taken for its end that is not. */
static const char *take_number(const char *at, enum pfw_kind wanted)
{
	enum pfw_kind kind;
	const char *end = pfw_skip_number(at, at + NUMBER_BYTES_MAX, &kind);

	return kind == wanted ? end : NULL;
}

INLINE WIDE const char *take_digits(const char *at)
{
	struct wide w = wide_constants();
	__m128i digits;
	unsigned n, all = 0;

	at += *at == '-';
	do {
		n = count_digits(&w, at, &digits);
		at += n;
		all += n;
	} while (n == 16 && all < 32);
	return all ? at : NULL;
}

/* A value that is no number of a column; returns behind it, or NULL. */
static WIDE __attribute__((noinline)) const char *take_other(const struct slot *slot, const char *at)
{
	if (slot->op == SLOT_FIXED)
		return at;
	if (slot->kind == PFW_STRING)
		return take_string(at);
	return slot->op == SLOT_SAME ? take_digits(at) : take_number(at, slot->kind);
}

INLINE WIDE bool is_same(const struct same *same, const char *at)
{
	return same->bytes && (~same_bytes(at, same->text) & same->mask) == 0;
}

WIDE const char *shape_match(struct shape *s, const char *at, struct value *values, uint32_t *changed)
{
	const struct slot *end = s->slots + s->slot_count;
	const struct wide w = wide_constants();
	uint32_t differing = 0;
	uint64_t bad = 0;

	for (struct slot *slot = s->slots; slot < end; slot++, values++) {
		if (!is_fixed(at, s->fixed + slot->fixed_at, slot->fixed_bytes, slot->fixed_mask))
			return NULL;
		at += slot->fixed_bytes;
		if (slot->op <= SLOT_SCALED) {
			at = take_int(&w, slot, s->scales, at, &s->row.words[slot->column], &bad);
			if (__builtin_expect(!at, false))
				return NULL;
			continue;
		}
		values->at = at;
		if (slot->op == SLOT_SAME && is_same(&s->sames[slot->same], at)) {
			at += s->sames[slot->same].bytes - 1;
		} else {
			at = slot->op == SLOT_STRING ? take_string(at) : take_other(slot, at);
			if (!at)
				return NULL;
			differing |= (uint32_t)(slot->op == SLOT_SAME) << (slot - s->slots);
		}
		values->bytes = (size_t)(at - values->at);
	}
	*changed = differing;
	return !bad && is_fixed(at, s->fixed + s->end_at, s->end_bytes, s->end_mask) ? at + s->end_bytes : NULL;
}

/* The name's bytes, up to 32, mixed. */
WIDE uint64_t shape_key(const char *at)
{
	static const char masks[64] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	struct wide w = wide_constants();
	__m256i v, quotes;
	__m128i digits;
	uint64_t words[4];
	uint32_t mask;
	unsigned n;

	if (!memcmp(at, "{\"id\":", 6)) {
		at += 6;
		at += *at == '"';
		at += count_digits(&w, at, &digits);
		at += *at == '"';
	}
	v = _mm256_loadu_si256((const __m256i_u *)(at + 9));
	quotes = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('"'));
	mask = (uint32_t)_mm256_movemask_epi8(quotes);
	n = mask ? (unsigned)__builtin_ctz(mask) : 32;
	v = _mm256_and_si256(v, _mm256_loadu_si256((const __m256i_u *)(masks + 32 - n)));
	memcpy(words, &v, sizeof(words));
	words[0] = (words[0] ^ words[2]) * 0x9e3779b97f4a7c15u;
	words[1] = (words[1] ^ words[3]) * 0xc2b2ae3d27d4eb4fu;
	words[0] ^= words[1] ^ n;
	return words[0] ^ words[0] >> 32;
}

#else

bool pfw_shapes_work(void)
{
	return false;
}

uint64_t shape_key(const char *at)
{
	return 0;
}

const char *shape_match(struct shape *s, const char *at, struct value *values, uint32_t *changed)
{
	return NULL;
}

#endif
