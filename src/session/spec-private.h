/* spec-private: shared by spec.c and spec-companions.c. */
#ifndef SONDE_SESSION_SPEC_PRIVATE_H
#define SONDE_SESSION_SPEC_PRIVATE_H

#include "config/config.h"
#include "session/spec.h"

/* For rows of a struct config_key; into is a struct session_spec. */
int spec_take_companions(struct config_reader *r, yaml_node_t *list, void *into);
int spec_take_tools(struct config_reader *r, yaml_node_t *list, void *into);
int spec_take_probes(struct config_reader *r, yaml_node_t *list, void *into);

#endif
