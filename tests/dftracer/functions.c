/* Compiled with -finstrument-functions: recursion, and a function that is in no table. */
#include <dftracer/dftracer.h>

__attribute__((noinline)) int fibonacci(int n);
__attribute__((noinline)) int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static int twice(int n)
{
	return 2 * n;
}

int main(void)
{
	initialize_main(NULL, NULL, NULL);
	int sum = fibonacci(6) + twice(3);
	finalize();
	return sum == 14 ? 0 : 1;
}
