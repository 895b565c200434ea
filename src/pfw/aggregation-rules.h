/*
 * rules: which events are summed up when DFTRACER_AGGREGATION_TYPE is SELECTIVE.
 *
 * An event is summed up when a rule of inclusion holds and none of exclusion does; without any of inclusion every
 * event is included. A rule is
 *
 *	field OP value     OP is == != < <= > >=, LIKE 'glob*' (% is * as well), IN {a, b}, NOT LIKE, NOT IN
 *	NOT rule, rule AND rule, rule OR rule, (rule)
 *
 * over the fields name, cat, dur and ts (in the log's unit), app, rank, and args.KEY for an argument. Values stand
 * in quotes or plain. Numbers are compared as numbers, categories whatever their case; an argument that an event
 * does not have makes every comparison with it false. A rule that makes no sense is left out.
 *
 * No memory but the struct's own; any text is fine.
 */
#ifndef SONDE_PFW_AGGREGATION_RULES_H
#define SONDE_PFW_AGGREGATION_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RULES_TEXT_BYTES 4096u
#define RULES_NODES_MAX 256u
#define RULES_MAX 64u

struct rule_value {
	const char *text; /* NULL: it is a number */
	size_t bytes;
	int64_t number;
};

/* An event, as far as rules ask. */
struct rule_event {
	struct rule_value name, cat, app;
	int64_t ts, dur, rank;
	/* The argument of this name; false: there is none. */
	bool (*arg)(const void *of, const char *key, size_t bytes, struct rule_value *value);
	const void *of;
};

struct rules {
	char text[RULES_TEXT_BYTES];
	uint32_t included, excluded; /* rules of each kind */
	uint32_t broken;             /* rules that make no sense */
	uint32_t node_count, rule_count;
	struct {
		uint16_t node;
		bool is_exclusion;
	} rule[RULES_MAX];
	struct rule_node {
		uint8_t kind, op, field;
		uint16_t left, right; /* of AND, OR, NOT */
		uint16_t key_at, key_bytes;
		uint16_t value_at, value_bytes;
		bool is_number;
		int64_t number;
	} nodes[RULES_NODES_MAX];
};

/* Lines, each a rule behind '+' (inclusion) or '-' (exclusion). */
void rules_read(struct rules *r, const char *lines);

bool rules_hold(const struct rules *r, const struct rule_event *e);

#endif
