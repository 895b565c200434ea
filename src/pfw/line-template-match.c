/*
 * The fast path: compares the constant text and converts the values; see line-template.h.
 *
 * Numbers: 16 bytes are loaded at once, the digits among them counted, moved to the end of the register and multiplied
 * pairwise (10, 100, 10^4, 10^8), as described by Wojciech Mula, "SIMD-ized parsing of unsigned integers" (2014). Every
 * load may read up to 32 bytes past the line; callers pad the text.
 */
#include "pfw/line-template.h"

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

/* One bit per equal byte. */
INLINE WIDE uint32_t same_bytes(const char *a, const char *b)
{
	__m256i left = _mm256_loadu_si256((const __m256i_u *)a);
	__m256i right = _mm256_loadu_si256((const __m256i_u *)b);

	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(left, right));
}

/* Compares constant text, nearly always at most 64 bytes. */
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

/* Constants kept in registers for a whole line: the compiler would rebuild them for every number. */
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

/* Counts the digits at `at`, up to 16; *digits gets their values. */
INLINE WIDE unsigned count_digits(const struct wide *w, const char *at, __m128i *digits)
{
	__m128i d = _mm_sub_epi8(_mm_loadu_si128((const __m128i_u *)at), w->zero);
	__m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(d, w->nine), d);

	*digits = d;
	return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(is_digit));
}

/* Converts the first n digits, 1 to 16, to a number. */
INLINE WIDE uint64_t convert(const struct wide *w, __m128i digits, unsigned n)
{
	static const char places[32] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 4,
		5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	__m128i v = _mm_shuffle_epi8(digits, _mm_loadu_si128((const __m128i_u *)(places + n)));

	v = _mm_madd_epi16(_mm_maddubs_epi16(v, w->tens), w->hundreds);
	v = _mm_madd_epi16(_mm_packus_epi32(v, v), w->myriads);
	uint64_t eights = (uint64_t)_mm_cvtsi128_si64(v);
	return (eights & UINT32_MAX) * 100000000u + (eights >> 32);
}

/* The smallest number of n digits, by n; 0 has one digit. */
static const uint64_t least[17] = { 0, 0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
	10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000 };

/* A value that does not start with 1 to 16 digits: parses a negative number. Returns the position after it, or NULL. */
static WIDE __attribute__((noinline)) const char *take_negative(const struct pfw_scale *scale, const char *at,
		int64_t *column)
{
	struct wide w = wide_constants();
	__m128i digits;
	unsigned n = *at == '-' ? count_digits(&w, ++at, &digits) : 0;

	if (n - 1 > 15 || *at == '0')
		return NULL;
	int64_t v = -(int64_t)convert(&w, digits, n);
	if (v < scale->min)
		return NULL;
	*column = v * scale->mul + scale->add;
	return at + n;
}

/*
 * Advances by n bytes. If the length rarely changes, branch prediction of n lets the processor continue at once, which
 * is faster than waiting for n; the compiler must not see that both are equal. If it varies, waiting is faster than
 * mispredictions.
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

/* Parses an integer of up to 16 digits; returns the position after it. Errors are added to *bad, to avoid a branch. */
INLINE WIDE const char *take_int(const struct wide *w, struct slot *slot, const struct pfw_scale *scales,
		const char *at, int64_t *column, uint64_t *bad)
{
	__m128i digits;
	unsigned n = count_digits(w, at, &digits);

	if (__builtin_expect(n - 1 > 15, false)) {
		at = take_negative(&scales[slot->scale], at, column);
		*bad |= !at;
		return at;
	}
	uint64_t v = convert(w, digits, n);
	*bad |= v < least[n];
	if (slot->op == SLOT_SCALED) {
		const struct pfw_scale *scale = &scales[slot->scale];

		*bad |= v - (uint64_t)scale->min > (uint64_t)scale->max - (uint64_t)scale->min;
		v = v * (uint64_t)scale->mul + (uint64_t)scale->add;
	}
	*column = (int64_t)v;
	return advance(slot, at, n);
}

/* Skips plain characters up to the closing quote; NULL if another character ends them. */
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

/* Parses a JSON number of that kind. The text after it is compared too, so a wrong end does not match. */
static const char *parse_number(const char *at, enum jsonscan_kind wanted)
{
	enum jsonscan_kind kind;
	const char *end = jsonscan_number(at, at + NUMBER_BYTES_MAX, &kind);

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

/* Parses a value that is not a column's number; returns the position after it, or NULL. */
static WIDE __attribute__((noinline)) const char *take_other(const struct slot *slot, const char *at)
{
	if (slot->op == SLOT_FIXED)
		return at;
	if (slot->kind == JSONSCAN_STRING)
		return take_string(at);
	return slot->op == SLOT_SAME ? take_digits(at) : parse_number(at, slot->kind);
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

/* Hashes the first 32 bytes of the name. */
WIDE uint64_t shape_key(const char *at)
{
	static const char masks[64] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	struct wide w = wide_constants();
	__m128i digits;
	uint64_t words[4];

	if (!memcmp(at, "{\"id\":", 6)) {
		at += 6;
		at += *at == '"';
		at += count_digits(&w, at, &digits);
		at += *at == '"';
	}
	__m256i v = _mm256_loadu_si256((const __m256i_u *)(at + 9));
	__m256i quotes = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('"'));
	uint32_t mask = (uint32_t)_mm256_movemask_epi8(quotes);
	unsigned n = mask ? (unsigned)__builtin_ctz(mask) : 32;
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
