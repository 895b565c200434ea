/* Linked to a program that knows nothing of tracing: FUNCTION mode from its first line on. */
#include <dftracer/dftracer.h>

__attribute__((constructor)) static void begin(void)
{
	DFTRACER_C_INIT(NULL, NULL, NULL)
}
