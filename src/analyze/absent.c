/* See absent.h. */
#include "analyze/absent.h"

#include <string.h>

bool analyze_has_table(const struct analyze *a, const char *name)
{
	size_t count;
	const struct model_table *tables = model_tables(a->run, &count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(tables[i].name, name) == 0 && tables[i].table && store_table_rows(tables[i].table))
			return true;
	return false;
}
