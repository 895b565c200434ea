#include "fleet/requirements.h"

#include <string.h>

bool fleet_requirements_are_met(const struct fleet_requirements *needs, const struct fleet_offer *offer)
{
	bool has_label = !needs->label;

	for (size_t i = 0; i < offer->label_count && !has_label; i++)
		has_label = strcmp(offer->labels[i], needs->label) == 0;
	return has_label && needs->cpus <= offer->cpus && needs->memory_bytes <= offer->memory_bytes;
}
