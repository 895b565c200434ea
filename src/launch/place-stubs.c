/* Places that are not there yet. */
#include "launch/job-private.h"
#include "launch/sandbox.h"

#include <errno.h>

static int not_yet(const struct job_place *place, struct sonde_err *err)
{
	(void)place;
	return err_set(err, ENOTSUP, "only plain processes can be had so far");
}

const struct place_ops place_cgroup = { .check = not_yet };
const struct place_ops place_sandbox = { .check = not_yet };
const struct place_ops place_container = { .check = not_yet };

uint64_t sandbox_namespaces(const struct sandbox *s)
{
	(void)s;
	return 0;
}

int sandbox_enter(const struct sandbox *s, int *stage)
{
	(void)s;
	*stage = 0;
	return -ENOTSUP;
}

const char *sandbox_stage_words(int stage)
{
	(void)stage;
	return "cannot make a sandbox";
}
