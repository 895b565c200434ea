/*
 * env: the program sees the environment it would see without us.
 *
 * At start LD_PRELOAD loses our part and SONDE_RING disappears from `environ`;
 * whatever the program executes gets them back, so that its children are traced
 * even when it cleans their environment. An environment that names a SONDE_RING
 * of its own (a recorder inside the recorded) is left alone.
 */
#ifndef SONDE_TRACER_ENV_H
#define SONDE_TRACER_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* Take our variables out; the ring directory, or NULL when there is none to write to. */
const char *env_take(void);

/* Is there something to hand on? */
bool env_has_ours(void);

/* An envp for an exec. `room` holds env_room(envp) pointers and lives as long as the result. */
size_t env_room(char *const envp[]);
char **env_inject(char *const envp[], char **room);

/*
 * For calls that read `environ` themselves (system, popen): put ours in, and take it
 * out again. Threads may be in such calls at the same time, so there is one such
 * environment for all of them, and it is never freed. False: it was not put in.
 */
bool env_swap_in(void);
void env_swap_out(void);
void env_swap_forked(void); /* in a child: calls of other threads have ended with them */

extern char *env_library __attribute__((visibility("hidden"))); /* path of libsonde, absolute; empty without a ring */

#endif
