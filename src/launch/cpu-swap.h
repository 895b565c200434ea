/*
 * cpu-swap: exchanges the CPUs of two concurrent jobs all the time, so that both get the same CPUs.
 *
 * Each of two concurrent programs stays on one CPU for long, and CPUs differ: those of a virtual machine are slowed
 * by other guests of the host at different times. This is most of the noise in the ratio of their run times. So
 * every few milliseconds the running threads of the two jobs exchange CPUs.
 *
 * The programs cannot observe it. A thread is moved by narrowing its affinity mask for a microsecond. Meanwhile two
 * threads of ours occupy both CPUs, so that neither program can read its mask, or pass it on by fork, while it is
 * narrow. Our threads use a real-time class for that. Without permission for one (priority.h) the measured thread
 * could preempt ours; this was seen for 1/100,000 of the time.
 *
 * Jobs are swapped only while each has exactly one running thread: the scheduler spreads more threads over the CPUs
 * anyway. A thread that may not run on the other's CPU stays where it is.
 */
#ifndef SONDE_LAUNCH_CPU_SWAP_H
#define SONDE_LAUNCH_CPU_SWAP_H

#include <stdint.h>
#include <sys/types.h>

struct cpu_swap; /* opaque; has threads: stop it before fork */

/*
 * Swaps the jobs, given by their first processes, until one of these exits. NULL if unavailable; the jobs run
 * unswapped.
 */
struct cpu_swap *cpu_swap_start(const pid_t jobs[2]);
uint64_t cpu_swap_count(const struct cpu_swap *t); /* swaps so far; 0 if NULL */
void cpu_swap_stop(struct cpu_swap *t);            /* both continue to run; t may be NULL */

#endif
