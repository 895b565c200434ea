/* Fuzz target: any bytes read as a capture of packets. */
#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_import("pcap", data, n);
	return 0;
}
