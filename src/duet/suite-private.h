/*
 * suite-private: the node tree of a configuration and the lookup of values: strict about keys, searched in A or B,
 * then in the duet, then in `duetbench`. Errors name the file and line.
 */
#ifndef SONDE_DUET_SUITE_PRIVATE_H
#define SONDE_DUET_SUITE_PRIVATE_H

#include "duet/suite.h"

#include <yaml.h>

enum level { LEVEL_MAIN = 1, LEVEL_DUET = 2, LEVEL_SIDE = 4 };
enum { LEVELS = 3 };

struct reader {
	yaml_document_t document;
	const char *path;
	struct arena *arena;
	struct sonde_err *err;
};

/* Mappings that are searched for a value, innermost first. */
struct scope {
	const yaml_node_t *nodes[LEVELS];
	const char *where;
};

int suite_say(struct reader *r, const yaml_node_t *node, int errnum, const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));
/* The text of a node; NULL if it is not a scalar. */
const char *suite_scalar(const yaml_node_t *node);
yaml_node_t *suite_node_at(struct reader *r, int index);
/* Returns the value of a key in a mapping, or in the mappings that it merges with `<<`. */
yaml_node_t *suite_find(struct reader *r, const yaml_node_t *mapping, const char *key, int depth);
/* Fails if a key is not valid at this level. */
int suite_check_keys(struct reader *r, const yaml_node_t *mapping, unsigned level, const char *where);
/* Looks up a value with inheritance; NULL if not found. */
yaml_node_t *suite_look(struct reader *r, const struct scope *s, const char *key);
/* fallback NULL: the value is required. */
int suite_get_text(struct reader *r, const struct scope *s, const char *key, const char *fallback, const char **out);
int suite_get_bool(struct reader *r, const struct scope *s, const char *key, bool fallback, bool *out);
int suite_get_int(struct reader *r, const struct scope *s, const char *key, int64_t fallback, int64_t least,
		int64_t most, int64_t *out);
/* A list of texts; a single text is a list of one. */
int suite_get_list(struct reader *r, const struct scope *s, const char *key, const char *const **out, size_t *count);

#endif
