/*
 * document: a YAML document's mappings into structs, by tables of keys.
 *
 * A row says which key, what kind of value and where it goes. Keys that no row has,
 * that come twice, and values of another kind are errors that name file, line and, where
 * something is near, what was probably meant.
 */
#ifndef SONDE_TUNE_DOCUMENT_H
#define SONDE_TUNE_DOCUMENT_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

struct yaml_reader {
	const char *path;
	yaml_document_t *document;
	struct arena *arena;
	struct sonde_err *err;
	void *context; /* the caller's */
};

enum yaml_kind {
	YAML_TEXT,     /* const char * */
	YAML_REAL,     /* double */
	YAML_WHOLE,    /* int64_t, from .min on */
	YAML_TRUTH,    /* bool */
	YAML_DURATION, /* int64_t nanoseconds: "10s", "500ms", "2m" */
	YAML_WORD,     /* int: index in .words */
	YAML_LIST,     /* const char **: texts and a NULL; a single text is split like a command */
	YAML_OTHER,    /* .take does it */
};

struct yaml_key {
	const char *name;
	enum yaml_kind kind;
	size_t offset;
	int64_t min;
	const char *const *words;
	int (*take)(struct yaml_reader *r, yaml_node_t *value, void *into);
};

/* Every entry of `map` by its row into the struct; `what` names it in errors ("parameter 'x'"), NULL: the study. */
int yaml_take_map(struct yaml_reader *r, yaml_node_t *map, const struct yaml_key *keys, const char *what, void *into);
int yaml_error(struct yaml_reader *r, const yaml_node_t *at, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
/* The value of a key, or NULL. */
yaml_node_t *yaml_find(struct yaml_reader *r, yaml_node_t *map, const char *key);
yaml_node_t *yaml_item(struct yaml_reader *r, yaml_node_t *list, size_t i); /* NULL behind the end */
const char *yaml_text(const yaml_node_t *node);                             /* NULL: it is no scalar */
size_t yaml_line(const yaml_node_t *node);                                  /* from 1 */
/* Plain (without quotes) and a number? */
bool yaml_number(const yaml_node_t *node, double *number);

#endif
