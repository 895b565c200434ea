/* jobs: what tests of jobs share: starting one or failing with its words, and pipes to hear from it. */
#ifndef SONDE_TEST_JOBS_H
#define SONDE_TEST_JOBS_H

#include "../support.h"

#include "base/buf.h"
#include "launch/job.h"

#include <stdlib.h>

#define ARGV(...) ((char *const *)(uintptr_t)(const char *const[]){ __VA_ARGS__, NULL })
#define ACTS getenv("SONDE_TEST_ACTS")
#define FOR_EVER INT64_MAX

struct heard { /* a job whose stdout is a pipe */
	struct job *job;
	int out;
};

struct job *started(const struct job_spec *spec);
struct heard heard_start(struct job_spec *spec); /* its fds[1] is set */
/* All of its output until nobody can write any more; at most `max` bytes. The caller frees. */
char *heard_text(struct heard *h);
char *heard_line(struct heard *h); /* one line without its end */
/* Wait for it, free it, and give its status. */
int waited(struct job *j);
bool is_alive(pid_t pid); /* and no zombie */
void assert_ok(int rc, const struct sonde_err *err);
size_t children_of_ours(void); /* any process whose parent we are, zombies too */

#endif
