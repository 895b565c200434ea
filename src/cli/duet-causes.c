/*
 * duet-causes: what carries a difference, as a table and as JSON.
 */
#include "base/cleanup.h"
#include "cli/duet.h"
#include "duet/explain.h"

#include <stdio.h>

enum { CAUSES_SHOWN = 20 };

void duet_print_causes_json(const struct duet_explanation *e)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, false);
	json_object(&j);
	json_kuint(&j, "recordings", e->recordings);
	json_key(&j, "causes");
	json_array(&j);
	for (size_t i = 0; i < e->count && i < 10 * CAUSES_SHOWN; i++) {
		const struct duet_cause *c = &e->causes[i];

		json_object(&j);
		json_kstr(&j, "kind", c->kind);
		json_kstr(&j, "name", c->name);
		json_kreal(&j, "a_ns", c->a_ns);
		json_kreal(&j, "b_ns", c->b_ns);
		json_kreal(&j, "a_calls", c->a_calls);
		json_kreal(&j, "b_calls", c->b_calls);
		json_kreal(&j, "delta_ns", c->delta.estimate);
		json_kreal(&j, "lo_ns", c->delta.lo);
		json_kreal(&j, "hi_ns", c->delta.hi);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	puts(text.data);
}

void duet_print_causes(const struct duet_explanation *e)
{
	static const struct term_column columns[] = { { "what carries it", TERM_LEFT }, { "B - A", TERM_RIGHT },
		{ "interval", TERM_RIGHT }, { "A", TERM_RIGHT }, { "B", TERM_RIGHT }, { "name", TERM_LEFT } };
	struct term_table table;

	term_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < e->count && i < CAUSES_SHOWN; i++) {
		const struct duet_cause *c = &e->causes[i];
		bool is_sure = c->delta.lo > 0 || c->delta.hi < 0;

		term_table_cell(&table, is_sure ? TERM_BOLD : TERM_DIM, c->kind);
		term_table_cellf(&table, "%+.3f ms", c->delta.estimate / 1e6);
		term_table_cellf(&table, "%+.3f to %+.3f", c->delta.lo / 1e6, c->delta.hi / 1e6);
		term_table_cellf(&table, "%.3f ms / %.0f", c->a_ns / 1e6, c->a_calls);
		term_table_cellf(&table, "%.3f ms / %.0f", c->b_ns / 1e6, c->b_calls);
		term_table_cell(&table, TERM_PLAIN, c->name);
	}
	printf("\nwhat carries the difference, of %zu recordings of each (time / how often):\n", e->recordings);
	term_table_print(&table, stdout);
	term_table_release(&table);
}
