#include "pfw/pfw-category.h"

#include "calls/calls-find.h"

#include <string.h>

const char *pfw_call_category(const char *name, size_t n, bool is_stdio)
{
	const struct call_info *info = is_stdio ? NULL : calls_find(name, n);

	return is_stdio ? "stdio" : info ? call_category_word(info->category) : "meta";
}

const char *pfw_trace_category(const char *call_category)
{
	return call_category && !strcmp(call_category, "stdio") ? "STDIO" : "POSIX";
}
