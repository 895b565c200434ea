/*
 * Fuzz target: any bytes as what an application pushes. What is kept is finite and has a name that ends; and it is the
 * same whether the bytes came at once or one by one.
 */
#include "fuzz.h"

#include "live/push-receiver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(const struct pushed_text *t)
{
	if (t->metric_count > PUSHED_METRICS_MAX)
		abort();
	for (size_t i = 0; i < t->metric_count; i++)
		if (!isfinite(t->metrics[i].value) || !memchr(t->metrics[i].name, '\0', sizeof(t->metrics[i].name)))
			abort();
}

static void compare(const struct pushed_text *a, const struct pushed_text *b)
{
	if (a->metric_count != b->metric_count || a->rejected != b->rejected)
		abort();
	for (size_t i = 0; i < a->metric_count; i++)
		if (strcmp(a->metrics[i].name, b->metrics[i].name) != 0 || a->metrics[i].value != b->metrics[i].value)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct pushed_text whole, pieces;
	bool is_heard, is_heard_too = true;

	pushed_text_init(&whole);
	pushed_text_init(&pieces);
	is_heard = pushed_text_add(&whole, (const char *)data, n);
	for (size_t i = 0; i < n && is_heard_too; i++)
		is_heard_too = pushed_text_add(&pieces, (const char *)data + i, 1);
	check(&whole);
	check(&pieces);
	if (is_heard && is_heard_too)
		compare(&whole, &pieces);
	pushed_text_release(&whole);
	pushed_text_release(&pieces);
	return 0;
}
