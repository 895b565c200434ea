/* A program of the fake CUDA driver: some commands, of CUPTI's kinds and numbers. */
#include <stdint.h>
#include <stdio.h>

int cuInit(unsigned flags);
void fake_command(uint32_t kind, uint32_t what, uint64_t bytes, const char *name);
void fake_call(uint32_t domain, int32_t site, const char *name);

int main(void)
{
	cuInit(0);
	fake_command(1, 1, 4096, NULL);
	fake_command(10, 0, 0, "gemm_fw_");
	fake_command(10, 0, 0, "gemm_bw_");
	fake_command(2, 0, 512, NULL);
	fake_command(1, 8, 100, NULL);
	fake_command(22, 10, 200, NULL);
	fake_call(2, 0, "cudaMemcpy"); /* the runtime's, and inside it the driver's */
	fake_call(1, 0, "cuMemcpyDtoH_v2");
	fake_command(1, 2, 2048, NULL);
	fake_call(1, 1, "cuMemcpyDtoH_v2");
	fake_call(2, 1, "cudaMemcpy");
	fake_call(2, 1, "cudaFree"); /* an end whose beginning nobody saw */
	puts("computed");
	return 5;
}
