/*
 * explain-text: the causes of a difference, as a table.
 */
#include "cli/duet-cli.h"
#include "duet/explain.h"

enum { CAUSES_SHOWN = 20 };

void duet_write_causes(struct buf *out, const struct term *term, const struct duet_explanation *e)
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
	buf_addf(out, "\nwhat carries the difference, of %zu recordings of each (time / how often):\n", e->recordings);
	term_table_write(&table, out, term);
	term_table_release(&table);
}
