/* Fuzz target: any bytes read as folded stacks. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_import("folded", data, n);
	return 0;
}
