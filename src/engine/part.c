#include "engine/part.h"

#include <errno.h>
#include <stdlib.h>

static const struct {
	const char *number, *count;
} launchers[] = {
	{ "SLURM_PROCID", "SLURM_NTASKS" },
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
	{ "PMI_RANK", "PMI_SIZE" },
	{ "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT" },
};

/* Decimal digits up to `end`. */
static bool parse(const char *text, char end, unsigned *number, const char **rest)
{
	unsigned long v;
	char *at;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoul(text, &at, 10);
	if (errno || *at != end || v > ENGINE_PARTS_MAX)
		return false;
	*number = (unsigned)v;
	if (rest)
		*rest = at + 1;
	return true;
}

bool engine_part_of_environment(struct engine_part *part)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
		if (parse(getenv(launchers[i].number), '\0', &part->number, NULL) &&
				parse(getenv(launchers[i].count), '\0', &part->count, NULL) &&
				part->number < part->count)
			return true;
	*part = (struct engine_part){ .count = 0 };
	return false;
}

int engine_part_parse(const char *text, struct engine_part *part, struct sonde_err *err)
{
	const char *rest;

	if (text[0] == 'a' && text[1] == 'u' && text[2] == 't' && text[3] == 'o' && !text[4]) {
		if (engine_part_of_environment(part))
			return 0;
		err_set(err, EINVAL, "no launcher has set the part in the environment");
		err_hint(err, "start it with srun or mpirun, or give the part as k/n");
		return -EINVAL;
	}
	if (parse(text, '/', &part->number, &rest) && parse(rest, '\0', &part->count, NULL) &&
			part->number < part->count)
		return 0;
	err_set(err, EINVAL, "invalid part '%s'", text);
	err_hint(err, "a part is k/n with k from 0 to n-1, such as 0/4, or auto");
	return -EINVAL;
}
