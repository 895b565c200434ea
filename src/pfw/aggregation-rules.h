/*
 * aggregation-rules: which events are aggregated when DFTRACER_AGGREGATION_TYPE is SELECTIVE.
 *
 * An event is aggregated if an inclusion rule matches and no exclusion rule does. Without inclusion rules every event
 * is included. Syntax of a rule:
 *
 *   field OP value     OP is == != < <= > >=, LIKE 'glob*' (% works like *), IN {a, b}, NOT LIKE, NOT IN
 *   NOT rule, rule AND rule, rule OR rule, (rule)
 *
 * Fields are name, cat, dur and ts (in the log's unit), app, rank, and args.KEY for an argument. Values may be quoted.
 * Numbers are compared as numbers, categories ignoring case. A comparison with an argument that the event does not have
 * is false. Invalid rules are ignored.
 *
 * Uses no memory outside the struct; accepts any input text.
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
	const char *text; /* NULL: a number */
	size_t bytes;
	int64_t number;
};

/* The fields of an event that rules can test. */
struct rule_event {
	struct rule_value name, cat, app;
	int64_t ts, dur, rank;
	/* Finds the argument of this name; returns false if the event has none. */
	bool (*arg)(const void *of, const char *key, size_t bytes, struct rule_value *value);
	const void *of;
};

struct rules {
	char text[RULES_TEXT_BYTES];
	uint32_t included, excluded; /* number of rules of each kind */
	uint32_t broken;             /* invalid rules */
	uint32_t node_count, rule_count;
	struct {
		uint16_t node;
		bool is_exclusion;
	} rule[RULES_MAX];
	struct rule_node {
		uint8_t kind, op, field;
		uint16_t left, right; /* operands of AND, OR, NOT */
		uint16_t key_at, key_bytes;
		uint16_t value_at, value_bytes;
		bool is_number;
		int64_t number;
	} nodes[RULES_NODES_MAX];
};

/* Parses lines, each a rule after '+' (inclusion) or '-' (exclusion). */
void rules_read(struct rules *r, const char *lines);

bool rules_hold(const struct rules *r, const struct rule_event *e);

#endif
