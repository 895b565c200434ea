/* Fuzz target: any bytes read as the text of strace. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_import("strace", data, n);
	return 0;
}
