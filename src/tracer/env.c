/* Hiding and handing on our environment variables; see env.h. */
#include "tracer/env.h"

#include "tracer/tracer.h"

#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_VAR "SONDE_RING="
#define PRELOAD_VAR "LD_PRELOAD="
#define VALUE_BYTES_MAX (2 * PATH_BYTES_MAX)

char env_library[PATH_BYTES_MAX];
static const char *named = ""; /* as the loader knows it */
static char ring_text[PATH_BYTES_MAX + sizeof(RING_VAR)];
static char preload_ours[PATH_BYTES_MAX + sizeof(PRELOAD_VAR)];      /* LD_PRELOAD=<libsonde> */
static char preload_theirs[VALUE_BYTES_MAX + sizeof(PRELOAD_VAR)];   /* what the program sees */

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_separator(char c)
{
	return c == ':' || c == ' ';
}

/* The loader knows it by the name in LD_PRELOAD, which a child in another directory could not use when it is relative. */
static void find_library(void)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
		if (m->l_ld == _DYNAMIC)
			named = m->l_name;
	char cwd[PATH_BYTES_MAX] = "";
	if (named[0] != '/')
		sys2(SYS_getcwd, cwd, sizeof(cwd));
	snprintf(env_library, sizeof(env_library), "%s%s%s", cwd, *cwd ? "/" : "", named);
}

/* Copy LD_PRELOAD's value without our element; true when something is left. */
static bool preload_without_us(const char *value)
{
	char *out = preload_theirs + sizeof(PRELOAD_VAR) - 1, *start = out;
	memcpy(preload_theirs, PRELOAD_VAR, sizeof(PRELOAD_VAR));
	if (strlen(value) >= VALUE_BYTES_MAX)
		return true;
	while (*value) {
		size_t n = 0;
		while (value[n] && !is_separator(value[n]))
			n++;
		if (n && (n != strlen(named) || strncmp(value, named, n))) {
			if (out != start)
				*out++ = ':';
			memcpy(out, value, n);
			out += n;
		}
		value += n;
		if (*value)
			value++;
	}
	*out = '\0';
	return out != start;
}

static size_t env_count(char *const envp[])
{
	size_t n = 0;
	while (envp && envp[n])
		n++;
	return n;
}

const char *env_take(void)
{
	size_t n = env_count(environ), out = 0;
	const char *ring = NULL;
	for (size_t i = 0; i < n; i++)
		if (starts(environ[i], RING_VAR))
			ring = environ[i] + sizeof(RING_VAR) - 1;
	if (!ring || !*ring || strlen(ring) >= PATH_BYTES_MAX)
		return NULL;
	find_library();
	char **clean = sys_map((n + 1) * sizeof(*clean), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!clean)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (starts(environ[i], RING_VAR))
			continue;
		if (!starts(environ[i], PRELOAD_VAR))
			clean[out++] = environ[i];
		else if (preload_without_us(environ[i] + sizeof(PRELOAD_VAR) - 1))
			clean[out++] = preload_theirs;
	}
	snprintf(ring_text, sizeof(ring_text), RING_VAR "%s", ring);
	snprintf(preload_ours, sizeof(preload_ours), PRELOAD_VAR "%s", env_library);
	environ = clean;
	return ring_text + sizeof(RING_VAR) - 1;
}

bool env_has_ours(void)
{
	return ring_text[0] != '\0';
}

/*
 * The program's own preloads come behind us, so that we see what it called; only
 * AddressSanitizer insists on being first.
 */
static void join_preload(char *out, const char *theirs)
{
	const char *value = theirs + sizeof(PRELOAD_VAR) - 1;
	bool is_behind = strstr(value, "libasan.so") != NULL;
	out = stpcpy(stpcpy(out, PRELOAD_VAR), is_behind ? value : env_library);
	if (*value)
		stpcpy(stpcpy(out, ":"), is_behind ? env_library : value);
}

static const char *find_preload(char *const envp[])
{
	for (size_t i = 0; envp && envp[i]; i++)
		if (starts(envp[i], PRELOAD_VAR))
			return envp[i];
	return NULL;
}

/* The pointers, the two words that are ours, the end, and behind it the text of a joined LD_PRELOAD. */
size_t env_room(char *const envp[])
{
	const char *theirs = find_preload(envp);
	size_t text_bytes = theirs ? strlen(theirs) + 1 + strlen(env_library) + 1 : 0;
	return env_count(envp) + 3 + (text_bytes + sizeof(char *) - 1) / sizeof(char *);
}

/* What the program has keeps its place, so that its children see the order that they would see without us. */
char **env_inject(char *const envp[], char **room)
{
	size_t n = env_count(envp), out = 0;
	const char *theirs = find_preload(envp);
	char *joined = (char *)(room + n + 3);
	for (size_t i = 0; i < n; i++) {
		if (starts(envp[i], RING_VAR))
			return (char **)(uintptr_t)envp;
		room[out++] = envp[i] == theirs ? joined : envp[i];
	}
	if (theirs)
		join_preload(joined, theirs);
	else
		room[out++] = preload_ours;
	room[out++] = ring_text;
	room[out] = NULL;
	return room;
}

void env_swap_in(struct env_swap *swap, char **room)
{
	swap->old = environ;
	swap->mine = env_inject(environ, room);
	environ = swap->mine;
}

/*
 * Another thread may have changed the environment meanwhile: then libc has copied
 * the pointers, and those that are ours are put back or go.
 */
void env_swap_out(struct env_swap *swap)
{
	if (environ == swap->mine || swap->mine == swap->old) {
		environ = swap->old;
		return;
	}
	const char *joined = find_preload(swap->mine), *theirs = find_preload(swap->old);
	size_t out = 0;
	for (size_t i = 0; environ && environ[i]; i++) {
		if (environ[i] == ring_text || (environ[i] == joined && !theirs))
			continue;
		environ[out++] = environ[i] == joined ? (char *)(uintptr_t)theirs : environ[i];
	}
	if (environ)
		environ[out] = NULL;
}
