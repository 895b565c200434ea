/*
 * layer-rules: layers, and which events belong to them.
 *
 * Rules are a text: `layer NAME` starts a layer, the lines after it are its conditions; all must match. Words are
 * split as in a shell and are globs.
 *
 *	layer "Reader POSIX"
 *		class io                    io, app_io, compute or none: what its time counts as
 *		table io                    io (calls) or span; default: both
 *		name pread* read            any of these; not-name: none of them
 *		category POSIX              of a span; of a call POSIX or STDIO, or data, open, meta, ...
 *		path *lustre*data*          any of these; not-path: none of them; no-path: calls without a file
 *		again                       events of other layers count here a second time
 *
 * An event belongs to the first layer that matches, and to every `again` layer.
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
	char **words; /* globs, ended by NULL; NULL: matches all */
	char **not_words;
};

struct rules_layer {
	const char *name;
	enum rules_class class;
	unsigned tables; /* mask of enum rules_table */
	bool is_again, has_no_path;
	struct rules_condition names, categories, paths;
};

/* Layers by number; a set is the layers of one event, as a mask. */
struct rules {
	const char *name; /* "posix", "dlio" or the file's path */
	const char *text;
	size_t count;
	struct rules_layer layers[RULES_LAYERS_MAX];
	size_t set_count;
	uint32_t sets[RULES_SETS_MAX]; /* sets[0] is empty */
	/* private */
	struct arena arena;
	uint8_t *set_of; /* by mask of the matching layers */
};

/* Opens a preset by name (posix, dlio) or a file by path. */
int rules_open(struct rules *r, const char *name, struct sonde_err *err);
/* Parses a text; `name` is for messages. */
int rules_parse(struct rules *r, const char *name, const char *text, struct sonde_err *err);
void rules_release(struct rules *r);

/* Returns the layers with a condition of that kind that matches; text NULL: the event has none. */
uint32_t rules_names(const struct rules *r, enum rules_table table, const char *name);
uint32_t rules_categories(const struct rules *r, const char *category, const char *other);
uint32_t rules_paths(const struct rules *r, const char *path);
/* Returns the set number of an event that matches these layers. */
static inline unsigned rules_set(const struct rules *r, uint32_t fits)
{
	return r->set_of[fits];
}

const char *rules_class_word(enum rules_class class);
extern const char *const rules_presets[]; /* names, ended by NULL */
extern const char *const rules_preset_texts[];

#endif
