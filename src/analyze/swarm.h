/*
 * swarm: functions that act together.
 *
 * A function's profile says in which stretches of the run, and on which
 * threads, it was sampled. Functions whose profiles point the same way (their
 * cosine) become one swarm: the heaviest by average linkage, the others go to
 * the swarm that they are nearest to. A swarm is called after one of its heaviest
 * functions, and its id is made from that name, so the same swarm of another run
 * of the program has the same id. Memory is linear in the number of functions,
 * time in the number of samples. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_SWARM_H
#define SONDE_ANALYZE_SWARM_H

#include <stddef.h>
#include <stdint.h>

#define SWARM_BUCKETS 64
#define SWARM_THREADS 4 /* the busiest have buckets of their own, the others share the last */
#define SWARM_PLACES (SWARM_BUCKETS * SWARM_THREADS)
#define SWARM_NEAR 0.55 /* cosine from which functions act together */

struct swarm_function {
	const char *name;
	int64_t ns, samples;
	int64_t first_ns, last_ns;   /* sampled, since the start */
	float profile[SWARM_PLACES]; /* weight by time and thread */
	int swarm;                   /* set by swarm_group: a number, from 0 */
};

/* Give each function its swarm; the heaviest functions come first. Their number of swarms, or -ENOMEM. */
int swarm_group(struct swarm_function *functions, size_t count);
/* The id of a swarm that is called so: "s-" and eight digits. */
#define SWARM_ID_BYTES 16
void swarm_id(char id[SWARM_ID_BYTES], const char *name);

#endif
