/* deflate: everything comes back, whatever it is, and lines of a log become small. */
#include "../support.h"

#include "pfw/deflate.h"

#include <isa-l/igzip_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (1u << 20)
#define LINES 4000

static struct deflater deflater;
static uint8_t data[BYTES_MAX], packed[2 * BYTES_MAX], back[BYTES_MAX];

/* Another's inflate agrees, its checksum included, and there is nothing behind the member. */
static size_t round_trip(size_t n)
{
	struct inflate_state inflate;
	size_t bytes = deflate_member(&deflater, data, n, packed);

	assert_true(bytes <= deflate_bound(n));
	isal_inflate_init(&inflate);
	inflate.crc_flag = ISAL_GZIP;
	inflate.next_in = packed;
	inflate.avail_in = (uint32_t)bytes;
	inflate.next_out = back;
	inflate.avail_out = sizeof(back);
	assert_int_equal(isal_inflate(&inflate), ISAL_DECOMP_OK);
	assert_int_equal(inflate.block_state, ISAL_BLOCK_FINISH);
	assert_int_equal(inflate.avail_in, 0);
	assert_int_equal(inflate.total_out, n);
	assert_memory_equal(data, back, n);
	return bytes;
}

static uint8_t byte_of(unsigned kind, size_t i, uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	unsigned any = (unsigned)(*seed >> 33);

	switch (kind) {
	case 0:
		return (uint8_t)any;
	case 1:
		return (uint8_t) "abc"[any % 3];
	case 2:
		return i > 40 && any % 20 ? data[i - 37] : (uint8_t)any;
	case 3:
		return i < BYTES_MAX / 40 ? 0 : (uint8_t)(any & any >> 8); /* counts that ask for long codes */
	default:
		return 7;
	}
}

static void test_any_bytes(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 4, 5, 63, 64, 65, 257, 258, 259, 300, 32767, 32769, 70000,
		BYTES_MAX };
	uint64_t seed = 42;

	(void)state;
	for (unsigned kind = 0; kind < 5; kind++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
			for (size_t i = 0; i < sizes[s]; i++)
				data[i] = byte_of(kind, i, &seed);
			round_trip(sizes[s]);
		}
}

/* Frequencies like Fibonacci's numbers make the longest codes there are. */
static void test_long_codes(void **state)
{
	size_t n = 0, a = 1, b = 1;

	(void)state;
	for (unsigned symbol = 0; symbol < 26 && n + a <= BYTES_MAX; symbol++) {
		for (size_t i = 0; i < a; i++)
			data[n++] = (uint8_t)symbol;
		size_t next = a + b;

		a = b;
		b = next;
	}
	for (size_t i = n; i-- > 1;) { /* shuffled, so that nothing repeats for long */
		size_t j = (i * 2654435761u) % (i + 1);
		uint8_t kept = data[i];

		data[i] = data[j];
		data[j] = kept;
	}
	round_trip(n);
}

static void test_distances(void **state)
{
	(void)state;
	for (size_t distance = 32760; distance < 32776; distance++) {
		uint64_t seed = distance;

		for (size_t i = 0; i < 2 * distance; i++)
			data[i] = i < distance ? byte_of(0, i, &seed) : data[i - distance];
		round_trip(2 * distance);
	}
}

static void test_lines(void **state)
{
	size_t n = 0;

	(void)state;
	for (int i = 0; i < LINES; i++)
		n += (size_t)snprintf((char *)data + n, sizeof(data) - n,
				"{\"id\":%d,\"name\":\"%s\",\"cat\":\"POSIX\",\"pid\":13771,\"tid\":13771,"
				"\"ts\":%lld,\"dur\":%d,"
				"\"ph\":\"X\",\"args\":{\"hhash\":7386335834152862147,\"ret\":%d,\"fd\":3}}\n",
				i, i % 3 ? "read" : "write", 1794770953344013ll + 3ll * i, i % 4, 16 << i % 7);
	assert_true(round_trip(n) < 15 * LINES);
}

static void test_crc(void **state)
{
	struct deflater plain;

	(void)state;
	memset(&plain, 0, sizeof(plain));
	deflate_init(&plain);
	plain.has_pclmul = false;
	assert_int_equal(deflate_crc(&deflater, "123456789", 9), 0xcbf43926);
	for (size_t i = 0; i < 500; i++)
		data[i] = (uint8_t)(i * 37);
	for (size_t n = 0; n < 500; n++)
		assert_int_equal(deflate_crc(&deflater, data, n), deflate_crc(&plain, data, n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_long_codes),
		cmocka_unit_test(test_distances),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_crc),
	};
	deflate_init(&deflater);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
