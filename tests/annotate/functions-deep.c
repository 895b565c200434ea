/* One function, so many calls deep. */
#include <stdlib.h>

static volatile int sink;

static __attribute__((noinline)) int descend(int n)
{
	return n ? descend(n - 1) + sink : sink;
}

int main(int argc, char **argv)
{
	return descend(argc > 1 ? (int)strtol(argv[1], NULL, 10) - 1 : 0);
}
