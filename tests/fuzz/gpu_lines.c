/* Fuzz target: any bytes as lines of nvidia-smi and tegrastats; what comes out is a device that there is room for. */
#include "fuzz.h"

#include "probe/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct gpu_reading r;
	char *line = malloc(n + 1);
	if (!line)
		return 0;
	memcpy(line, data, n);
	line[n] = '\0';
	if (gpu_parse_smi(line, &r) && r.device >= GPU_DEVICES_MAX)
		abort();
	if (gpu_parse_tegra(line, &r) && r.device >= GPU_DEVICES_MAX)
		abort();
	free(line);
	return 0;
}
