/* Fuzz target: any bytes read as a Chrome trace. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_import("chrome", data, n);
	return 0;
}
