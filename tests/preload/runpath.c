/*
 * A library that loads another by its own run path. dlopen knows by its return
 * address who asks, so the hook must not stand in between.
 *
 * Arguments: the library that asks, and the one that only it can find.
 */
#include "expect.h"

#include <dlfcn.h>
#include <fcntl.h>

static void copy(const char *from, const char *to)
{
	int in = raw_open(from, O_RDONLY), out = raw_open(to, O_WRONLY | O_CREAT);
	CHECK(in >= 0 && out >= 0);
	while (raw(SYS_sendfile, out, in, NULL, 1 << 20) > 0)
		;
	raw_close(in);
	raw_close(out);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return ended();
	raw(SYS_mkdirat, -100, "sub", 0755);
	copy(argv[1], "libcaller.so");
	copy(argv[2], "sub/libinner.so");
	CHECK(!dlopen("libinner.so", RTLD_NOW)); /* not for us */
	WANT(dlopen, .text = "libinner.so", .args = F(" flags=%d no_end", RTLD_NOW));
	void *caller = dlopen(P("libcaller.so"), RTLD_NOW);
	CHECK(caller);
	WANT(dlopen, .text = P("libcaller.so"), .args = F(" flags=%d no_end", RTLD_NOW));
	int (*ask)(void) = (int (*)(void))dlsym(caller, "ask");
	CHECK(ask() == 42);
	WANT(dlopen, .text = "libinner.so", .args = F(" flags=%d no_end", RTLD_NOW));
	WANT(dlmopen, .text = "libinner.so", .args = F(" namespace=0 flags=%d no_end", RTLD_NOW));
	return ended();
}
