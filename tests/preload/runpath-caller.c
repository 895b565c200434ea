/* A library with a run path of its own; see runpath.c. */
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("default"))) int ask(void);
int ask(void)
{
	void *inner = dlopen("libinner.so", RTLD_NOW);
	void *again = dlmopen(LM_ID_BASE, "libinner.so", RTLD_NOW);
	int (*answer)(void) = inner && again == inner ? (int (*)(void))dlsym(inner, "answer") : NULL;
	return answer ? answer() : -1;
}
