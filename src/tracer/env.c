/* Hides our environment variables from the program and passes them to its children; see env.h. */
#include "tracer/env.h"

#include "tracer/tracer.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_VAR "SONDE_RING="
#define PRELOAD_VAR "LD_PRELOAD="
#define LISTING_VAR "LD_TRACE_LOADED_OBJECTS=" /* ldd: the program will not run, and the list gets copied into images */
#define VALUE_BYTES_MAX (2 * PATH_BYTES_MAX)
#define KEPT_MAX 96 /* variables; more of them need a mapping */
#define SWAP_WAITS 1000

/* The strings passed to children, contiguous: most often they need only one page. */
static char texts[4 * PATH_BYTES_MAX + sizeof(RING_VAR) + 2 * sizeof(PRELOAD_VAR)];
static char *preload_ours STATE;     /* LD_PRELOAD=<libsonde> */
static char *ring_text STATE;        /* NULL: nothing to pass on */
static char *preload_theirs STATE;   /* the program's view of it */
char *env_library STATE = texts;     /* inside preload_ours */
static const char *named STATE = ""; /* the loader's name of it */
static char *kept[KEPT_MAX] STATE;   /* `environ` without our variables */

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_separator(char c)
{
	return c == ':' || c == ' ';
}

/*
 * The loader uses the name from LD_PRELOAD: a relative one would fail for a child in another directory. Returns false
 * if the name does not fit.
 */
static bool texts_write(const char *ring)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
		if (m->l_ld == _DYNAMIC)
			named = m->l_name;
	if (strlen(named) >= PATH_BYTES_MAX)
		return false;
	env_library = stpcpy(texts, PRELOAD_VAR);
	char *at = env_library;
	if (named[0] != '/' && sys2(SYS_getcwd, at, PATH_BYTES_MAX - strlen(named) - 1) > 0)
		at = stpcpy(at + strlen(at), "/");
	preload_ours = texts;
	ring_text = stpcpy(at, named) + 1;
	preload_theirs = stpcpy(stpcpy(ring_text, RING_VAR), ring) + 1;
	return true;
}

/* Copy LD_PRELOAD's value without our element; true if the rest is not empty. */
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
	char **clean = kept;
	if (n >= KEPT_MAX)
		clean = sys_map((n + 1) * sizeof(*clean), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!clean || !texts_write(ring))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (starts(environ[i], RING_VAR))
			continue;
		if (!starts(environ[i], PRELOAD_VAR))
			clean[out++] = environ[i];
		else if (preload_without_us(environ[i] + sizeof(PRELOAD_VAR) - 1))
			clean[out++] = preload_theirs;
	}
	environ = clean;
	return ring_text + sizeof(RING_VAR) - 1;
}

bool env_has_ours(void)
{
	return ring_text != NULL;
}

/* The program's own preloads come after us, so that we see its calls; only AddressSanitizer must be the first. */
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

/* The pointers, our two variables, the terminator, and after it the text of a joined LD_PRELOAD. */
size_t env_room(char *const envp[])
{
	const char *theirs = find_preload(envp);
	size_t text_bytes = theirs ? strlen(theirs) + 1 + strlen(env_library) + 1 : 0;
	return env_count(envp) + 3 + (text_bytes + sizeof(char *) - 1) / sizeof(char *);
}

/* The program's variables keep their position, so that its children see the same order as without us. */
char **env_inject(char *const envp[], char **room)
{
	size_t n = env_count(envp), out = 0;
	const char *theirs = find_preload(envp);
	char *joined = (char *)(room + n + 3);
	for (size_t i = 0; i < n; i++) {
		if (starts(envp[i], RING_VAR) || starts(envp[i], LISTING_VAR))
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

/* The environment of shells during calls like system. */
static struct {
	uint32_t is_changing; /* atomic flag */
	uint32_t users;
	char **old;  /* the program's */
	char **room; /* its copy with ours; never freed, since other threads read it without a lock */
	size_t room_count;
	const char *preload, *old_preload; /* LD_PRELOAD of each; NULL: none */
} swap STATE;

/* Held only briefly; but its holder may not exist in this process after a fork. */
static bool swap_lock(void)
{
	for (unsigned i = 0; i < SWAP_WAITS; i++) {
		if (!__atomic_exchange_n(&swap.is_changing, 1, __ATOMIC_ACQUIRE))
			return true;
		if (tracer.is_seccomped)
			break;
		sys0(SYS_sched_yield);
	}
	return false;
}

static void swap_unlock(void)
{
	__atomic_store_n(&swap.is_changing, 0, __ATOMIC_RELEASE);
}

static bool swap_make(void)
{
	size_t n = env_room(environ);
	if (n > swap.room_count) {
		char **larger = sys_map(2 * n * sizeof(*larger), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1);
		if (!larger)
			return false;
		swap.room = larger;
		swap.room_count = 2 * n;
	}
	if (env_inject(environ, swap.room) == environ)
		return false;
	swap.preload = find_preload(swap.room);
	swap.old_preload = find_preload(environ);
	swap.old = environ;
	swap.users = 1;
	__atomic_store_n(&environ, swap.room, __ATOMIC_RELEASE);
	return true;
}

bool env_swap_in(void)
{
	if (!swap_lock())
		return false;
	bool is_in = swap.users != 0;
	if (is_in)
		swap.users++;
	else
		is_in = swap_make();
	swap_unlock();
	return is_in;
}

/* The variables of `from` without ours. Written only where it differs: the program's array may be constant. */
static void copy_theirs(char **to, char *const *from)
{
	size_t out = 0;
	for (size_t i = 0; from && from[i]; i++) {
		char *one = from[i] == swap.preload ? (char *)(uintptr_t)swap.old_preload : from[i];
		if (!one || one == ring_text)
			continue;
		if (to[out] != one)
			to[out] = one;
		out++;
	}
	if (to && to[out])
		to[out] = NULL;
}

/* Another thread may have changed the environment meanwhile: inside our copy, or libc has reallocated it. */
static void swap_undo(void)
{
	if (environ == swap.room) {
		copy_theirs(swap.old, swap.room);
		environ = swap.old;
	} else {
		copy_theirs(environ, environ);
	}
}

void env_swap_out(void)
{
	bool is_ours = swap_lock();
	if (is_ours && swap.users && !--swap.users)
		swap_undo();
	if (is_ours)
		swap_unlock();
}

void env_swap_forked(void)
{
	if (swap.users)
		swap_undo();
	swap.users = 0;
	swap_unlock();
}
