/* A library that annotates, from its constructor to its destructor. */
#include "expect.h"

#include <sonde/sonde.h>

void linked_library(void);

__attribute__((constructor)) static void constructor(void)
{
	expect("instant", "constructor", NULL, 0);
	sonde_instant("constructor");
}

__attribute__((destructor)) static void destructor(void)
{
	sonde_instant("plain destructor");
}

__attribute__((visibility("default"))) void linked_library(void)
{
	expect("span", "linked library", NULL, 1);
	SONDE_SPAN("linked library");
}
