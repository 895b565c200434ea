/*
 * env: keeps our environment variables out of the program's sight.
 *
 * At start, LD_PRELOAD loses our element and SONDE_RING disappears from `environ`. Every program that it executes gets
 * both back, so that children are traced even if the program cleans their environment. An environment that sets
 * another SONDE_RING (a recorder inside a recording) is left alone.
 */
#ifndef SONDE_TRACER_ENV_H
#define SONDE_TRACER_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* Remove our variables. Returns the ring directory, or NULL if there is none to write to. */
const char *env_take(void);

/* Are there variables to pass on? */
bool env_has_ours(void);

/* An envp for an exec. `room` holds env_room(envp) pointers and must outlive the result. */
size_t env_room(char *const envp[]);
char **env_inject(char *const envp[], char **room);

/*
 * For calls that read `environ` themselves (system, popen): insert our variables, and remove them again. Several
 * threads may be in such calls at the same time, so they share one environment, which is never freed. Returns false if
 * it was not inserted.
 */
bool env_swap_in(void);
void env_swap_out(void);
void env_swap_forked(void); /* in a child: the calls of other threads do not exist here */

extern char *env_library __attribute__((visibility("hidden"))); /* absolute path of libsonde; empty without a ring */

#endif
