/*
 * rules: layers, and which events are whose.
 *
 * Rules are a text: `layer NAME` starts one, the lines after it say what its
 * events are like; all must hold. Words are split as in a shell and are globs.
 *
 *	layer "Reader POSIX"
 *		class io                    io, app_io, compute or none: what its time counts as
 *		table io                    io (calls) or span; both without it
 *		name pread* read            any of these; not-name: none of them
 *		category POSIX              of a span; of a call POSIX or STDIO, or data, open, meta, ...
 *		path *lustre*data*          any of these; not-path: none of them; no-path: calls on no file
 *		again                       events of other layers count here a second time
 *
 * An event belongs to the first layer that fits, and to every `again` layer.
 */
#ifndef SONDE_ANALYZE_LAYER_RULES_H
#define SONDE_ANALYZE_LAYER_RULES_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RULES_LAYERS_MAX 16
#define RULES_SETS_MAX 64
#define RULES_BYTES_MAX ((size_t)1 << 20)

enum rules_class { RULES_NONE, RULES_IO, RULES_APP_IO, RULES_COMPUTE, RULES_CLASSES };
enum rules_table { RULES_OF_CALLS = 1, RULES_OF_SPANS = 2 };

struct rules_condition {
	char **words; /* globs, ended by NULL; NULL: holds for all */
	char **not_words;
};

struct rules_layer {
	const char *name;
	enum rules_class class;
	unsigned tables; /* of enum rules_table */
	bool is_again, has_no_path;
	struct rules_condition names, categories, paths;
};

/* Layers by number; a set is the layers that one event belongs to, as a mask. */
struct rules {
	const char *name; /* "posix", "dlio" or the file's path */
	const char *text;
	size_t count;
	struct rules_layer layers[RULES_LAYERS_MAX];
	size_t set_count;
	uint32_t sets[RULES_SETS_MAX]; /* sets[0] is empty */
	/* private */
	struct arena arena;
	uint8_t *set_of; /* by mask of the layers that fit */
};

/* The name of a preset (posix, dlio) or the path of a file. */
int rules_open(struct rules *r, const char *name, struct sonde_err *err);
/* A text; `name` is for messages. */
int rules_parse(struct rules *r, const char *name, const char *text, struct sonde_err *err);
void rules_release(struct rules *r);

/* The layers whose condition of that kind this fits; NULL text: it has none. */
uint32_t rules_names(const struct rules *r, enum rules_table table, const char *name);
uint32_t rules_categories(const struct rules *r, const char *category, const char *other);
uint32_t rules_paths(const struct rules *r, const char *path);
/* The number of the set for an event that fits these. */
static inline unsigned rules_set(const struct rules *r, uint32_t fits)
{
	return r->set_of[fits];
}

const char *rules_class_word(enum rules_class class);
extern const char *const rules_presets[]; /* names, ended by NULL */

#endif
