/*
 * The quick scanner: compare what stays, convert what does not; see pfw-shape.h.
 *
 * Numbers: 16 bytes are taken at once, the digits among them counted and moved
 * to the end of the register, and multiplied pairwise (10, 100, 10^4, 10^8), as
 * Wojciech Mula describes in "SIMD-ized parsing of unsigned integers" (2014).
 * Every load may read up to 32 bytes beyond the line; callers pad the text.
 */
#include "exchange/pfw-shape-private.h"

#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define WIDE __attribute__((target("avx2,bmi,popcnt")))
#define NUMBER_BYTES_MAX 32
#define BLOCKS_MAX 16u
#define SPARE_BYTES 24u /* that a line may be longer than the one before */
#define INLINE static inline __attribute__((always_inline))

bool pfw_shapes_work(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}

/* One bit a byte that is equal. */
INLINE WIDE uint32_t same_bytes(const char *a, const char *b)
{
	__m256i left = _mm256_loadu_si256((const __m256i_u *)a);
	__m256i right = _mm256_loadu_si256((const __m256i_u *)b);

	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(left, right));
}

INLINE WIDE bool is_fixed(const char *at, const char *fixed, uint32_t bytes, uint32_t mask)
{
	if ((same_bytes(at, fixed) & mask) != mask)
		return false;
	while (bytes > 32) {
		at += 32;
		fixed += 32;
		bytes -= 32;
		mask = bytes >= 32 ? UINT32_MAX : (1u << bytes) - 1;
		if ((same_bytes(at, fixed) & mask) != mask)
			return false;
	}
	return true;
}

/* How many digits are at `at`, up to 16; *digits gets their values. */
INLINE WIDE unsigned count_digits(const char *at, __m128i *digits)
{
	__m128i d = _mm_sub_epi8(_mm_loadu_si128((const __m128i_u *)at), _mm_set1_epi8('0'));
	__m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(d, _mm_set1_epi8(9)), d);

	*digits = d;
	return (unsigned)__builtin_ctz(~(unsigned)_mm_movemask_epi8(is_digit));
}

/* The first n of the digits, 1 to 16, as a number. */
INLINE WIDE uint64_t convert(__m128i digits, unsigned n)
{
	static const char places[32] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 4,
		5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	__m128i v = _mm_shuffle_epi8(digits, _mm_loadu_si128((const __m128i_u *)(places + n)));
	uint64_t eights;

	v = _mm_maddubs_epi16(v, _mm_set1_epi16(0x010a));
	v = _mm_madd_epi16(v, _mm_set1_epi32(0x00010064));
	v = _mm_packus_epi32(v, v);
	v = _mm_madd_epi16(v, _mm_set1_epi32(0x00012710));
	eights = (uint64_t)_mm_cvtsi128_si64(v);
	return (eights & UINT32_MAX) * 100000000u + (eights >> 32);
}

/* An integer of up to 16 digits in its range; returns behind it, or NULL. */
INLINE WIDE const char *take_int(const struct slot *slot, const char *at, int64_t *column)
{
	bool is_negative = *at == '-';
	__m128i digits;
	unsigned n = count_digits(at + is_negative, &digits);
	int64_t v;

	at += is_negative;
	if (n - 1 > 15 || (*at == '0' && (n > 1 || is_negative)))
		return NULL;
	v = (int64_t)convert(digits, n);
	v = is_negative ? -v : v;
	if (v < slot->scale.min || v > slot->scale.max)
		return NULL;
	*column = v * slot->scale.mul + slot->scale.add;
	return at + n;
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
	__m128i digits;
	unsigned n, all = 0;

	at += *at == '-';
	do {
		n = count_digits(at, &digits);
		at += n;
		all += n;
	} while (n == 16 && all < 32);
	return all ? at : NULL;
}

INLINE WIDE const char *take_value(struct shape *s, struct slot *slot, const char *at, uint32_t bit, uint32_t *changed)
{
	switch (slot->op) {
	case SLOT_INT:
		return take_int(slot, at, &s->row.words[slot->column]);
	case SLOT_SAME:
		if (slot->same_bytes && (same_bytes(at, slot->same) & slot->same_mask) == slot->same_mask)
			return at + slot->same_bytes - 1;
		*changed |= bit;
		return slot->kind == PFW_STRING ? take_string(at) : take_digits(at);
	case SLOT_STRING:
		return take_string(at);
	case SLOT_NUMBER:
		return take_number(at, slot->kind);
	default:
		return at;
	}
}

/* From slot to slot: each value is where the one before it ends. Right for every line, but one step waits for another. */
static WIDE const char *match_in_turn(struct shape *s, const char *at, struct value *values, uint32_t *changed)
{
	*changed = 0;
	for (unsigned i = 0; i < s->slot_count; i++) {
		struct slot *slot = &s->slots[i];

		if (!is_fixed(at, s->fixed + slot->fixed_at, slot->fixed_bytes, slot->fixed_mask))
			return NULL;
		at += slot->fixed_bytes;
		values[i].at = at;
		at = take_value(s, slot, at, 1u << i, changed);
		if (!at)
			return NULL;
		values[i].bytes = (size_t)(at - values[i].at);
	}
	if (!is_fixed(at, s->fixed + s->end_at, s->end_bytes, s->end_mask))
		return NULL;
	return at + s->end_bytes;
}

/* Where the commas and braces of some 64-byte blocks are. */
static WIDE unsigned find_marks(const char *at, unsigned blocks, uint16_t *marks)
{
	unsigned count = 0;

	for (unsigned b = 0; b < blocks; b++) {
		__m256i low = _mm256_loadu_si256((const __m256i_u *)(at + (size_t)64 * b));
		__m256i high = _mm256_loadu_si256((const __m256i_u *)(at + (size_t)64 * b + 32));
		__m256i comma = _mm256_set1_epi8(','), brace = _mm256_set1_epi8('}');
		uint32_t m0 = (uint32_t)_mm256_movemask_epi8(
				_mm256_or_si256(_mm256_cmpeq_epi8(low, comma), _mm256_cmpeq_epi8(low, brace)));
		uint32_t m1 = (uint32_t)_mm256_movemask_epi8(
				_mm256_or_si256(_mm256_cmpeq_epi8(high, comma), _mm256_cmpeq_epi8(high, brace)));
		uint64_t m = m0 | (uint64_t)m1 << 32;
		unsigned there = (unsigned)__builtin_popcountll(m);

		/* Eight at a time, needed or not: how many there are is hard to foresee. */
		for (unsigned k = 0; k < there; k += 8) {
			uint16_t *to = marks + count + k;

#pragma GCC unroll 8
			for (unsigned j = 0; j < 8; j++, m = _blsr_u64(m))
				to[j] = (uint16_t)(64 * b + _tzcnt_u64(m));
		}
		count += there;
	}
	return count;
}

/* What stays is there? Fills values on the way. */
INLINE WIDE bool cut_values(const struct shape *s, const char *at, const uint16_t *marks, struct value *values,
		const char **last)
{
	const char *from = at;
	bool is_bad = false;

	for (unsigned i = 0; i < s->slot_count; i++) {
		const struct slot *slot = &s->slots[i];
		const char *value = from + slot->fixed_bytes, *to = at + marks[slot->mark] - slot->quotes;

		is_bad |= (same_bytes(from, s->fixed + slot->fixed_at) & slot->fixed_mask) != slot->fixed_mask;
		if (__builtin_expect(slot->fixed_bytes > 32, false))
			is_bad |= !is_fixed(from, s->fixed + slot->fixed_at, slot->fixed_bytes, slot->fixed_mask);
		is_bad |= to < value;
		values[i].at = value;
		values[i].bytes = (size_t)(to - value);
		from = to;
	}
	*last = from;
	return !is_bad && is_fixed(from, s->fixed + s->end_at, s->end_bytes, s->end_mask);
}

INLINE WIDE bool convert_ints(struct shape *s, const struct value *values)
{
	uint64_t is_bad = 0;

	for (unsigned k = 0; k < s->ints.count; k++) {
		const struct slot *slot = &s->slots[s->ints.slots[k]];
		const struct value *value = &values[s->ints.slots[k]];
		uint64_t is_negative = *value->at == '-', n = value->bytes - is_negative, v;
		const char *at = value->at + is_negative;
		__m128i digits;
		unsigned there = count_digits(at, &digits);

		is_bad |= (there ^ n) | (n - 1 > 15) | (*at == '0' && n + is_negative > 1);
		v = (convert(digits, there < 16 ? there : 16) ^ (0 - is_negative)) + is_negative;
		is_bad |= v - (uint64_t)slot->scale.min > (uint64_t)slot->scale.max - (uint64_t)slot->scale.min;
		s->row.words[slot->column] = (int64_t)(v * (uint64_t)slot->scale.mul + (uint64_t)slot->scale.add);
	}
	return !is_bad;
}

/* Behind the value, as it would be found by reading it. */
INLINE WIDE bool is_whole(const struct slot *slot, const struct value *value)
{
	const char *to = value->at + value->bytes;

	if (slot->kind == PFW_STRING)
		return take_string(value->at) == to;
	return (slot->op == SLOT_SAME ? take_digits(value->at) : take_number(value->at, slot->kind)) == to;
}

INLINE WIDE bool check_sames(const struct shape *s, const struct value *values, uint32_t *changed)
{
	*changed = 0;
	for (unsigned k = 0; k < s->sames.count; k++) {
		unsigned i = s->sames.slots[k];
		const struct slot *slot = &s->slots[i];

		if (slot->same_bytes == values[i].bytes + 1 &&
				(same_bytes(values[i].at, slot->same) & slot->same_mask) == slot->same_mask)
			continue;
		*changed |= 1u << i;
		if (!is_whole(slot, &values[i]))
			return false;
	}
	return true;
}

INLINE WIDE bool check_texts(const struct shape *s, const struct value *values)
{
	for (unsigned k = 0; k < s->texts.count; k++)
		if (!is_whole(&s->slots[s->texts.slots[k]], &values[s->texts.slots[k]]))
			return false;
	return true;
}

/* All commas and braces first, then all values independent of each other: quick, but commas in values defeat it. */
static WIDE const char *match_by_marks(struct shape *s, const char *at, const char *end, struct value *values,
		uint32_t *changed)
{
	uint16_t marks[64 * BLOCKS_MAX + 8];
	unsigned blocks = (s->bytes + 63 + SPARE_BYTES) / 64;
	unsigned readable = (unsigned)((end - at + PFW_PADDING) / 64);
	const char *last;

	blocks = blocks < readable ? blocks : readable;
	if (blocks > BLOCKS_MAX || find_marks(at, blocks, marks) <= s->slots[s->slot_count - 1].mark)
		return NULL;
	if (!cut_values(s, at, marks, values, &last) || !convert_ints(s, values) || !check_texts(s, values) ||
			!check_sames(s, values, changed))
		return NULL;
	return last + s->end_bytes;
}

WIDE const char *shape_match(struct shape *s, const char *at, const char *end, struct value *values, uint32_t *changed)
{
	const struct slot *first = &s->slots[0];
	const char *to;

	if ((same_bytes(at, s->fixed) & first->fixed_mask) != first->fixed_mask)
		return NULL;
	extern int dbg_mode; to = dbg_mode==1 ? NULL : match_by_marks(s, at, end, values, changed);
	if (!to)
		to = match_in_turn(s, at, values, changed);
	if (to)
		s->bytes = (uint32_t)(to - at);
	return to;
}

/* The name's bytes, up to 32, mixed. */
WIDE uint64_t shape_key(const char *at)
{
	static const char masks[64] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	__m256i v, quotes;
	__m128i digits;
	uint64_t words[4];
	uint32_t mask;
	unsigned n;

	if (!memcmp(at, "{\"id\":", 6)) {
		at += 6;
		at += *at == '"';
		at += count_digits(at, &digits);
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

const char *shape_match(struct shape *s, const char *at, const char *end, struct value *values, uint32_t *changed)
{
	return NULL;
}

#endif

int dbg_mode;
