/*
 * The checksum is XXH64: known values, and libzstd as an oracle (its frames end
 * in the low half of the XXH64 of their content).
 */
#include "support.h"

#include "store/hash.h"
#include "store/table-read.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static void knows_published_values(void **state)
{
	(void)state;
	assert_true(store_hash("", 0, 0) == 0xef46db3751d8e999u);
	assert_true(store_hash("a", 1, 0) == 0xd24ec4f1a98c6e5bu);
	assert_true(store_hash("abc", 3, 0) == 0x44bc2cf5ad770999u);
	assert_true(store_hash("Nobody inspects the spammish repetition", 39, 0) == 0xfbcea83c8a378bf1u);
}

static uint32_t hash_by_zstd(const uint8_t *bytes, size_t n)
{
	static uint8_t frame[4096];
	ZSTD_CCtx *c = ZSTD_createCCtx();
	uint32_t tail;
	size_t got;

	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	got = ZSTD_compress2(c, frame, sizeof(frame), bytes, n);
	assert_false(ZSTD_isError(got));
	ZSTD_freeCCtx(c);
	memcpy(&tail, frame + got - sizeof(tail), sizeof(tail));
	return tail;
}

static void agrees_with_zstd_on_every_length(void **state)
{
	uint8_t bytes[300];

	(void)state;
	random_init();
	random_bytes(bytes, sizeof(bytes));
	for (size_t n = 0; n <= sizeof(bytes); n++)
		assert_int_equal((uint32_t)store_hash(bytes, n, 0), hash_by_zstd(bytes, n));
}

static void depends_on_the_seed(void **state)
{
	uint8_t bytes[40] = { 0 };

	(void)state;
	assert_true(store_hash(bytes, 40, 1) != store_hash(bytes, 40, 2));
	assert_true(store_hash(bytes, 5, 1) != store_hash(bytes, 5, 2));
}

static void finds_every_flipped_bit(void **state)
{
	uint8_t bytes[100];
	uint64_t hash;

	(void)state;
	random_init();
	random_bytes(bytes, sizeof(bytes));
	hash = store_hash(bytes, sizeof(bytes), 7);
	for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_true(store_hash(bytes, sizeof(bytes), 7) != hash);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

/* A table `call` that was written by a version with its own code for XXH64. */
static void reads_tables_of_older_versions(void **state)
{
	struct store_table *table = NULL;
	struct store_batch batch = STORE_BATCH_INIT;
	int fd = open(DATA_DIR "/older-tables", O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_int_equal(store_table_open(&table, fd, "call", NULL), 0);
	assert_int_equal(store_table_blocks(table), 1);
	assert_int_equal(store_block_load(table, 0, NULL, 0, &batch, NULL), 0);
	assert_true(batch.rows > 0);
	store_batch_release(&batch);
	store_table_free(table);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_published_values),
		cmocka_unit_test(agrees_with_zstd_on_every_length),
		cmocka_unit_test(depends_on_the_seed),
		cmocka_unit_test(finds_every_flipped_bit),
		cmocka_unit_test(reads_tables_of_older_versions),
	};

	return RUN_TESTS(tests);
}
