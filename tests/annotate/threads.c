/* Threads that annotate at once, then many short-lived ones; prints how many spans each kind made. */
#include <pthread.h>
#include <sonde/sonde.h>
#include <stdio.h>
#include <stdlib.h>

#define LONG_LIVED 8
#define SPANS 4000
#define SHORT_LIVED 300
#define SHARED_NAMES 500 /* that all threads make at about the same time */

static void *busy(void *number)
{
	SONDE_SPAN_AS(s, "thread");
	sonde_arg_int(&s, "number", (intptr_t)number);
	for (int i = 0; i < SPANS; i++) {
		SONDE_SPAN("outer");
		{
			SONDE_SPAN_AS(inner, "inner");
			sonde_arg_int(&inner, "number", (intptr_t)number);
			sonde_arg_int(&inner, "i", i);
		}
		char name[32];
		snprintf(name, sizeof(name), "shared %d", i % SHARED_NAMES);
		sonde_instant(name);
		sonde_metric_add("spans", 2);
		sonde_metric_observe("index", i + 1);
	}
	return NULL;
}

static void *brief(void *unused)
{
	SONDE_SPAN("brief");
	return unused;
}

int main(void)
{
	pthread_t threads[LONG_LIVED], one;
	for (intptr_t i = 0; i < LONG_LIVED; i++)
		if (pthread_create(&threads[i], NULL, busy, (void *)i))
			abort();
	for (int i = 0; i < LONG_LIVED; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SHORT_LIVED; i++)
		if (pthread_create(&one, NULL, brief, NULL) || pthread_join(one, NULL))
			abort();
	printf("%d %d %d %d\n", LONG_LIVED, SPANS, SHORT_LIVED, SHARED_NAMES);
	return 0;
}
