/* Perf's records: as the manual lays them out, and cut anywhere. */
#include "sinks.h"

#include "probe/perf/perf-ring.h"

#include <stdlib.h>
#include <string.h>

struct made {
	uint64_t words[64];
	size_t count;
};

static void put(struct made *m, uint64_t word)
{
	m->words[m->count++] = word;
}

static struct perf_event_header *close_record(struct made *m, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { .type = type, .misc = misc, .size = (uint16_t)(8 * m->count) };
	memcpy(m->words, &h, sizeof(h));
	return (void *)m->words;
}

/* id, ip, pid and tid, time, cpu, period, a chain of three, no registers */
static struct perf_event_header *make_sample(struct made *m)
{
	m->count = 1;
	put(m, 77);
	put(m, 0x401000);
	put(m, (uint64_t)12 << 32 | 11);
	put(m, 123456);
	put(m, 3);
	put(m, 5000);
	put(m, 3);
	put(m, (uint64_t)PERF_CONTEXT_USER);
	put(m, 0x401000);
	put(m, 0x402000);
	put(m, 0);
	return close_record(m, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
}

#define TYPE (DECODE_BASE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static void a_sample(void **state)
{
	struct made m;
	struct perf_record r;
	struct perf_sample s;
	const struct perf_event_header *h = make_sample(&m);
	assert_int_equal(decode_time(h), 123456);
	assert_true(decode_record(h, &r));
	assert_int_equal(r.id, 77);
	assert_int_equal(r.pid, 11);
	assert_int_equal(r.tid, 12);
	assert_int_equal(r.cpu, 3);
	assert_true(decode_sample(&r, TYPE, &s));
	assert_int_equal(s.period, 5000);
	assert_int_equal(s.chain_count, 3);
	assert_int_equal(s.chain[2], 0x402000);
	assert_false(s.has_regs);
	assert_int_equal(s.stack_bytes, 0);
}

static void a_mapping_with_its_build_id(void **state)
{
	struct made m = { .count = 1 };
	struct perf_record r;
	struct decoded_mmap d;
	put(&m, (uint64_t)12 << 32 | 11);
	put(&m, 0x7f0000000000);
	put(&m, 4096);
	put(&m, 8192);
	put(&m, (uint64_t)0xaabbccdd << 32 | 4); /* four bytes of build id */
	put(&m, 0);
	put(&m, 0);
	put(&m, 0);
	memcpy(&m.words[m.count++], "/lib/x\0", 8);
	put(&m, (uint64_t)12 << 32 | 11); /* the trailer */
	put(&m, 999);
	put(&m, 1);
	put(&m, 77);
	const struct perf_event_header *h = close_record(&m, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
	assert_int_equal(decode_time(h), 999);
	assert_true(decode_record(h, &r) && decode_mmap(&r, &d));
	assert_int_equal(d.start, 0x7f0000000000);
	assert_int_equal(d.offset, 8192);
	assert_int_equal(d.build_id_bytes, 4);
	assert_int_equal(d.build_id[0], 0xdd);
	assert_string_equal(d.path, "/lib/x");
	assert_int_equal(r.id, 77);
}

/* In memory of exactly its length, so that sanitizers see every step too far. */
static void cut_anywhere(void **state)
{
	struct made m;
	const struct perf_event_header *whole = make_sample(&m);
	for (size_t n = sizeof(*whole); n < whole->size; n++) {
		struct perf_event_header *h = malloc(n);
		struct perf_record r;
		struct perf_sample s;
		struct decoded_mmap d;
		size_t bytes;
		memcpy(h, whole, n);
		h->size = (uint16_t)n;
		decode_time(h);
		if (decode_record(h, &r)) {
			if (n + 8 < whole->size)
				assert_false(decode_sample(&r, TYPE, &s));
			decode_raw(&r, &bytes);
		}
		h->type = PERF_RECORD_MMAP2;
		if (decode_record(h, &r))
			decode_mmap(&r, &d);
		free(h);
	}
}

static void a_chain_that_claims_too_much(void **state)
{
	struct made m;
	struct perf_record r;
	struct perf_sample s;
	const struct perf_event_header *h = make_sample(&m);
	m.words[7] = UINT64_MAX;
	assert_true(decode_record(h, &r));
	assert_false(decode_sample(&r, TYPE, &s));
	m.words[7] = UINT64_MAX / 8 + 2;
	assert_false(decode_sample(&r, TYPE, &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample),
		cmocka_unit_test(a_mapping_with_its_build_id),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(a_chain_that_claims_too_much),
	};
	return RUN_TESTS(tests);
}
