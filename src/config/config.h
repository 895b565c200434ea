/*
 * config: read a YAML document's mappings into structs, by tables of keys.
 *
 * A row has the key, the kind of value and its destination. Unknown or duplicate keys and values of another kind are
 * errors with file, line and, if one is similar, the key or word that was probably intended.
 */
#ifndef SONDE_CONFIG_CONFIG_H
#define SONDE_CONFIG_CONFIG_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

struct config_reader {
	const char *path; /* shown in errors */
	yaml_document_t *document;
	struct arena *arena;
	struct sonde_err *err;
	const char *what; /* the kind of document, for errors: "a study" */
	void *context;    /* the caller's */
};

enum config_kind {
	CONFIG_TEXT,     /* const char * */
	CONFIG_REAL,     /* double */
	CONFIG_WHOLE,    /* int64_t, at least .min, at most .max (0: no maximum) */
	CONFIG_TRUTH,    /* bool */
	CONFIG_DURATION, /* int64_t nanoseconds: "10s", "500ms", "2m" */
	CONFIG_WORD,     /* int: index in .words */
	CONFIG_LIST,     /* const char **: texts and a NULL; a single text is split like a shell command */
	CONFIG_OTHER,    /* parsed by .take */
};

struct config_key {
	const char *name;
	enum config_kind kind;
	size_t offset;
	int64_t min, max;
	const char *const *words;
	int (*take)(struct config_reader *r, yaml_node_t *value, void *into);
};

/*
 * Parse a text (at most one document) and pass its root to `take`; r->document is set during the call. An empty text
 * is an error.
 */
int config_parse(struct config_reader *r, const char *text, size_t bytes,
		int (*take)(struct config_reader *, yaml_node_t *));
/* The same for the file r->path, of at most CONFIG_BYTES_MAX bytes. */
#define CONFIG_BYTES_MAX ((size_t)1 << 20)
int config_load(struct config_reader *r, int (*take)(struct config_reader *, yaml_node_t *));

/*
 * Store every entry of `map` into the struct, by its row; `what` names it in errors ("parameter 'x'"), NULL: r->what.
 * The keys of a mapping that it merges (`<<: *anchor`) count where the mapping itself has none.
 */
int config_take_map(struct config_reader *r, yaml_node_t *map, const struct config_key *keys, const char *what,
		void *into);
int config_error(struct config_reader *r, const yaml_node_t *at, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
/* The value of a key, or NULL. */
yaml_node_t *config_find(struct config_reader *r, yaml_node_t *map, const char *key);
yaml_node_t *config_item(struct config_reader *r, yaml_node_t *list, size_t i); /* NULL after the end */
const char *config_text(const yaml_node_t *node);                               /* NULL: not a scalar */
size_t config_line(const yaml_node_t *node);                                    /* from 1 */
/* Names and values as NAME=value strings, terminated by NULL, in the reader's arena. */
int config_take_environment(struct config_reader *r, yaml_node_t *map, const char *const **words);
/* True if it is plain (not quoted) and a number. */
bool config_number(const yaml_node_t *node, double *number);

#endif
