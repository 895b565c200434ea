/* Fuzz target: any bytes as an IP packet; what it says of itself fits. The first byte says how much longer it was. */
#include "fuzz.h"

#include "base/packet.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct packet p;
	if (!n)
		return 0;
	uint32_t whole = (uint32_t)(n - 1) + data[0] * 16u;
	if (!packet_parse(&p, data + 1, n - 1, whole))
		return 0;
	if ((p.family != 4 && p.family != 6) || p.bytes > whole || p.payload > p.bytes)
		abort();
	if ((p.has_tcp && !p.has_ports) || (p.has_payload && !p.has_ports) || (!p.has_payload && p.payload))
		abort();
	return 0;
}
