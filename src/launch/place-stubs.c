/* Places that are not there yet. */
#include "launch/job-private.h"

#include <errno.h>

static int not_yet(const struct job_place *place, struct sonde_err *err)
{
	(void)place;
	return err_set(err, ENOTSUP, "only plain processes can be had so far");
}

const struct place_ops place_container = { .check = not_yet };
