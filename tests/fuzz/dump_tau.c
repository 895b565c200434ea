/* Fuzz target: any bytes as a text profile of TAU; what is handed over is text within them. */
#include "fuzz.h"

#include "session/dumps.h"

#include <stdlib.h>
#include <string.h>

static void take_metric(void *arg, const char *metric)
{
	*(size_t *)arg += strlen(metric);
}

static void take_function(void *arg, const struct tau_function *f)
{
	*(size_t *)arg += strlen(f->name) + strlen(f->group);
}

static void take_event(void *arg, const struct tau_event *e)
{
	*(size_t *)arg += strlen(e->name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t bytes = 0;
	struct tau_taker taker = { take_metric, take_function, take_event, &bytes };
	char *text = malloc(n + 1);

	if (!text)
		return 0;
	memcpy(text, data, n);
	text[n] = '\0';
	tau_parse(text, &taker);
	if (bytes > n + strlen("TIME"))
		abort();
	free(text);
	return 0;
}
