/*
 * requirements: what a job requires of its agent, and the resources of an agent.
 *
 * An agent with too few resources returns the job to the queue for another agent.
 */
#ifndef SONDE_FLEET_REQUIREMENTS_H
#define SONDE_FLEET_REQUIREMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fleet_requirements {
	int64_t cpus;          /* 0: any */
	uint64_t memory_bytes; /* 0: any */
	const char *label;     /* NULL: any */
};

struct fleet_offer {
	int64_t cpus;
	uint64_t memory_bytes;
	const char *const *labels;
	size_t label_count;
};

bool fleet_requirements_are_met(const struct fleet_requirements *needs, const struct fleet_offer *offer);

#endif
