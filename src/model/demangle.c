#include "model/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 16384 /* longer ones take too long, and are not readable */

typedef char *demangler(const char *name, char *room, size_t *bytes, int *status);

static demangler *find_demangler(void)
{
	static bool was_tried;
	static demangler *found;
	void *library = NULL;

	if (!was_tried)
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		*(void **)&found = dlsym(library, "__cxa_demangle");
	was_tried = true;
	return found;
}

const char *model_demangle(struct arena *arena, const char *name)
{
	demangler *demangle;
	char *plain;
	const char *kept;
	int status = -1;

	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > NAME_BYTES_MAX)
		return name;
	demangle = find_demangler();
	plain = demangle ? demangle(name, NULL, NULL, &status) : NULL;
	kept = plain && status == 0 ? arena_strdup(arena, plain) : NULL;
	free(plain);
	return kept ? kept : name;
}
