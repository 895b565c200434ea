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
static char ring_text[PATH_BYTES_MAX + sizeof(RING_VAR)];
static char preload_ours[PATH_BYTES_MAX + sizeof(PRELOAD_VAR)];      /* LD_PRELOAD=<libsonde> */
static char preload_joined[2][VALUE_BYTES_MAX + sizeof(PRELOAD_VAR)]; /* with the program's own; one for exec, one for a swap */
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

static void find_library(void)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
		if (m->l_ld == _DYNAMIC && strlen(m->l_name) < sizeof(env_library))
			strcpy(env_library, m->l_name);
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
		if (n && (n != strlen(env_library) || strncmp(value, env_library, n))) {
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

size_t env_room(char *const envp[])
{
	return env_count(envp) + 3;
}

/*
 * The program's own preloads come behind us, so that we see what it called; only
 * AddressSanitizer insists on being first.
 */
static char *join_preload(char *joined, const char *theirs)
{
	const char *value = theirs + sizeof(PRELOAD_VAR) - 1;
	if (!*value)
		return preload_ours;
	if (strstr(value, "libasan.so"))
		snprintf(joined, sizeof(preload_joined[0]), PRELOAD_VAR "%s:%s", value, env_library);
	else
		snprintf(joined, sizeof(preload_joined[0]), PRELOAD_VAR "%s:%s", env_library, value);
	return joined;
}

static char **inject(char *const envp[], char **room, char *joined)
{
	size_t out = 0;
	char *preload = preload_ours;
	for (size_t i = 0; envp && envp[i]; i++) {
		if (starts(envp[i], RING_VAR))
			return (char **)(uintptr_t)envp;
		if (starts(envp[i], PRELOAD_VAR))
			preload = join_preload(joined, envp[i]);
		else
			room[out++] = envp[i];
	}
	room[out++] = preload;
	room[out++] = ring_text;
	room[out] = NULL;
	return room;
}

char **env_inject(char *const envp[], char **room)
{
	return inject(envp, room, preload_joined[0]);
}

void env_swap_in(struct env_swap *swap, char **room)
{
	swap->old = environ;
	swap->mine = inject(environ, room, preload_joined[1]);
	environ = swap->mine;
}

/* Another thread may have changed the environment meanwhile: then libc has copied ours, and only our words go. */
void env_swap_out(struct env_swap *swap)
{
	if (environ == swap->mine) {
		environ = swap->old;
		return;
	}
	size_t out = 0;
	for (size_t i = 0; environ && environ[i]; i++)
		if (environ[i] != ring_text && environ[i] != preload_ours)
			environ[out++] = environ[i];
	if (environ)
		environ[out] = NULL;
}
