/*
 * sonde.h in two files of a program, in a library it is linked with and in one that
 * it loads; prints what must be recorded.
 */
#include "expect.h"

#include <dlfcn.h>
#include <sonde/sonde.h>

void other_file(void);
void linked_library(void);

int main(int argc, char **argv)
{
	expect("span", "main", NULL, 0);
	SONDE_SPAN("main");
	other_file();
	linked_library();
	for (int i = 0; i < 3; i++) { /* at another address each time, perhaps: nothing may be remembered of it */
		void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
		void (*annotate)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin") : NULL;
		if (!annotate)
			return 1;
		expect("span", "plugin", NULL, 1);
		annotate();
		dlclose(plugin);
	}
	expect("instant", "plain destructor", NULL, 0);
	return 0;
}
