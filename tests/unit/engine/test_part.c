/*
 * Parts as users and launchers name them.
 */
#include "support.h"

#include "engine/part.h"

#include <errno.h>
#include <stdlib.h>

static void is_part(const char *text, unsigned number, unsigned count)
{
	struct engine_part part;

	assert_int_equal(engine_part_parse(text, &part, NULL), 0);
	assert_int_equal(part.number, number);
	assert_int_equal(part.count, count);
}

static void parts_are_parsed(void **state)
{
	(void)state;
	is_part("0/1", 0, 1);
	is_part("3/4", 3, 4);
	is_part("65535/65536", 65535, 65536);
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = { "", "/", "1", "1/", "/2", "2/2", "-1/4", "1/4x", " 1/4", "1/99999999999",
		"a/b" };
	struct sonde_err err = SONDE_ERR_INIT;
	struct engine_part part;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(engine_part_parse(bad[i], &part, &err), -EINVAL);
	assert_true(err.hint[0] != '\0');
}

static void forget(void)
{
	static const char *const names[] = { "SLURM_PROCID", "SLURM_NTASKS", "OMPI_COMM_WORLD_RANK",
		"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
}

static void launchers_are_believed(void **state)
{
	struct engine_part part;

	(void)state;
	forget();
	assert_int_equal(engine_part_parse("auto", &part, NULL), -EINVAL);
	setenv("OMPI_COMM_WORLD_RANK", "2", 1);
	setenv("OMPI_COMM_WORLD_SIZE", "5", 1);
	is_part("auto", 2, 5);
	setenv("SLURM_PROCID", "7", 1);
	setenv("SLURM_NTASKS", "8", 1);
	is_part("auto", 7, 8);
	setenv("SLURM_PROCID", "8", 1); /* nonsense: not believed */
	is_part("auto", 2, 5);
	forget();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_parsed),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(launchers_are_believed),
	};

	return RUN_TESTS(tests);
}
