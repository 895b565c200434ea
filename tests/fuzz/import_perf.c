/* Fuzz target: any bytes read as the text of perf script. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_import("perf", data, n);
	return 0;
}
