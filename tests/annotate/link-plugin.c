/* A library that is loaded and unloaded. */
#include <sonde/sonde.h>

void plugin(void);

__attribute__((visibility("default"))) void plugin(void)
{
	SONDE_SPAN("plugin");
}
