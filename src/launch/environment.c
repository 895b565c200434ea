#include "launch/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t name_length(const char *entry)
{
	return strcspn(entry, "=");
}

static bool has_name(const char *entry, const char *change)
{
	size_t n = name_length(change);
	return name_length(entry) == n && !strncmp(entry, change, n);
}

static bool is_changed(const char *entry, const char *const *changes)
{
	for (; *changes; changes++)
		if (has_name(entry, *changes))
			return true;
	return false;
}

char **environment_with(const char *const *changes)
{
	static const char *const none[] = { NULL };
	size_t count = 0, n = 0;
	if (!changes)
		changes = none;
	while (environ && environ[count])
		count++;
	for (size_t i = 0; changes[i]; i++)
		count++;
	char **out = calloc(count + 1, sizeof(*out));
	if (!out)
		return NULL;
	for (size_t i = 0; environ && environ[i]; i++)
		if (!is_changed(environ[i], changes))
			out[n++] = environ[i];
	for (size_t i = 0; changes[i]; i++)
		if (changes[i][name_length(changes[i])] == '=' && !is_changed(changes[i], changes + i + 1))
			out[n++] = (char *)(uintptr_t)changes[i];
	return out;
}
