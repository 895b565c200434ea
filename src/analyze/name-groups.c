#include "analyze/name-groups.h"

#include <errno.h>
#include <string.h>

int groups_parse(struct groups *g, struct analyze *a, const char *text)
{
	*g = (struct groups){ .count = 0 };
	while (text && *text) {
		size_t n = strcspn(text, ","), word = strcspn(text, ":,");
		struct group *group = &g->groups[g->count];

		if (word && g->count == GROUPS_MAX)
			return -E2BIG;
		if (word) {
			group->word = arena_copy(&a->arena, text, word);
			group->colour = arena_copy(&a->arena, text + word + (word < n), n - word - (word < n));
			if (!group->word || !group->colour)
				return -ENOMEM;
			g->count++;
		}
		text += n + (text[n] == ',');
	}
	return 0;
}

void groups_add(struct groups *g, const char *name, int64_t ns, int64_t count)
{
	for (size_t i = 0; i < g->count; i++) {
		if (!strstr(name, g->groups[i].word))
			continue;
		g->groups[i].ns += ns;
		g->groups[i].count += count;
	}
}

static const struct analyze_column columns[] = {
	{ "group", "GROUP", ANALYZE_TEXT },
	{ "colour", NULL, ANALYZE_TEXT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "share", "SHARE", ANALYZE_RATIO },
	{ "names", "NAMES", ANALYZE_COUNT },
};

void groups_show(const struct groups *g, struct analyze_section *s, int64_t all_ns)
{
	struct analyze_table *t;

	if (!g->count)
		return;
	t = analyze_table(s, "groups", "Groups", columns, sizeof(columns) / sizeof(*columns), 0);
	for (size_t i = 0; i < g->count; i++) {
		analyze_cell_text(t, g->groups[i].word);
		analyze_cell_text(t, *g->groups[i].colour ? g->groups[i].colour : NULL);
		analyze_cell_int(t, g->groups[i].ns);
		analyze_cell_real(t, all_ns > 0 ? (double)g->groups[i].ns / (double)all_ns : 0);
		analyze_cell_int(t, g->groups[i].count);
	}
	if (t)
		t->all_rows = g->count;
}
