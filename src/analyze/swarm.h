/*
 * swarm: function clusters (SOFA's swarms): functions that are active together.
 *
 * A function's profile is the time intervals and threads in which it was sampled. Functions with similar profiles
 * (cosine) form one swarm: the heaviest by average linkage, the others join the nearest swarm. A swarm is named after
 * one of its heaviest functions, and its id is derived from that name, so the same swarm has the same id in another
 * run of the program. Memory is linear in the number of functions, time in the number of samples. Private to
 * analyze/.
 */
#ifndef SONDE_ANALYZE_SWARM_H
#define SONDE_ANALYZE_SWARM_H

#include <stddef.h>
#include <stdint.h>

#define SWARM_BUCKETS 64
#define SWARM_THREADS 4 /* the busiest threads have separate buckets, the others share the last */
#define SWARM_PLACES (SWARM_BUCKETS * SWARM_THREADS)
#define SWARM_NEAR 0.55 /* minimum cosine of functions in one swarm */

struct swarm_function {
	const char *name;
	int64_t ns, samples;
	int64_t first_ns, last_ns;   /* first and last sample, since the start */
	float profile[SWARM_PLACES]; /* weight by time and thread */
	int swarm;                   /* set by swarm_group: a number, from 0 */
};

/* Assigns each function a swarm; the heaviest functions come first. Returns the number of swarms, or -ENOMEM. */
int swarm_group(struct swarm_function *functions, size_t count);
/* Returns the id of a swarm with that name: "s-" and eight digits. */
#define SWARM_ID_BYTES 16
void swarm_id(char id[SWARM_ID_BYTES], const char *name);

#endif
