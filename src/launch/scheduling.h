/* scheduling: priority and CPUs of measured programs. */
#ifndef SONDE_LAUNCH_SCHEDULING_H
#define SONDE_LAUNCH_SCHEDULING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Raised scheduling priority, where the system permits it.
 *
 * Other running processes cause most of the noise in a measurement of wall time. Where permitted (root,
 * CAP_SYS_NICE, RLIMIT_NICE), the measured program gets the best nice value. A kernel with autogroups shares the
 * CPUs among sessions first and applies the nice value only within a session. So the tree runs in a separate
 * session, and the autogroup gets the value too. The separate session helps without privileges as well: the program
 * competes with other sessions, instead of with every process of its terminal.
 *
 * The measuring process and the supervisors of jobs use little CPU but must wake in time, so they have a real-time
 * class while measuring. The measured programs never get it: they could hang the machine.
 *
 * Other cgroups with their own share keep it; so do other guests of the same host.
 */

/* Is a raised priority permitted? Changes nothing. */
bool priority_is_allowed(void);
/* Raises our own class. Forked children inherit it; a job's command resets it. False: unchanged. */
bool priority_begin(void);
void priority_end(void);
/* For the first process of a tree; its children inherit it. Allocates nothing. False if any part of it failed. */
bool priority_raise(void);
/* For the command, before exec: keeps the nice value, resets the real-time class. Allocates nothing. 0 or -errno. */
int priority_pass_on(void);

/*
 * Exchanges the CPUs of two concurrent jobs all the time, so that both get the same CPUs.
 *
 * Each of two concurrent programs stays on one CPU for long, and CPUs differ: those of a virtual machine are slowed
 * by other guests of the host at different times. This is most of the noise in the ratio of their run times. So
 * every few milliseconds the running threads of the two jobs exchange CPUs.
 *
 * The programs cannot observe it. A thread is moved by narrowing its affinity mask for a microsecond. Meanwhile two
 * threads of ours occupy both CPUs, so that neither program can read its mask, or pass it on by fork, while it is
 * narrow. Our threads use a real-time class for that. Without permission for one (see above) the measured thread
 * could preempt ours; this was seen for 1/100,000 of the time.
 *
 * Jobs are swapped only while each has exactly one running thread: the scheduler spreads more threads over the CPUs
 * anyway. A thread that may not run on the other's CPU stays where it is.
 */
struct cpu_swap; /* opaque; has threads: stop it before fork */

/*
 * Swaps the jobs, given by their first processes, until one of these exits. NULL if unavailable; the jobs run
 * unswapped.
 */
struct cpu_swap *cpu_swap_start(const pid_t jobs[2]);
uint64_t cpu_swap_count(const struct cpu_swap *t); /* swaps so far; 0 if NULL */
void cpu_swap_stop(struct cpu_swap *t);            /* both continue to run; t may be NULL */

/* The only running thread of a process tree, and its CPU. */
struct runner {
	pid_t task;
	int cpu; /* that it runs on or waits for */
};

/* Searches root and its descendants. Returns false if no thread or more than one is runnable. */
bool runner_find(struct runner *r, pid_t root);
/* Is the thread still running, or runnable, on that CPU? */
bool runner_is_there(const struct runner *r);

#endif
