/*
 * trade: two jobs that run side by side change places all the time, so that both see the same processors.
 *
 * Each of two programs that compute at the same time has a processor to itself for long, and processors differ: those
 * of a guest are slowed by the host's other guests, each at its own moments. That is most of the noise in the
 * ratio of their times. So every few milliseconds what runs of the one and what runs of the other change processors.
 *
 * The programs do not notice. A thread is moved by narrowing the set of its processors for a microsecond; two threads
 * of ours, one on either processor, hold both up meanwhile, so that neither can ask for its set, or hand it on by a
 * fork, while it is narrow. Ours have a real-time class for that; where we may not have one (priority.h), what is
 * measured could take its processor back in between, which was seen for a hundred thousandth of the time.
 *
 * Only jobs are traded of which one thread runs: more are spread over the processors without us. Whoever may not run
 * where the other does stays where it is.
 */
#ifndef SONDE_LAUNCH_CPU_SWAP_H
#define SONDE_LAUNCH_CPU_SWAP_H

#include <stdint.h>
#include <sys/types.h>

struct cpu_swap; /* a handle; has threads, so end it before a fork */

/* By their first processes, until one of these has ended. NULL: it cannot be had, and they run as they would. */
struct cpu_swap *cpu_swap_start(const pid_t jobs[2]);
uint64_t cpu_swap_count(const struct cpu_swap *t); /* so far; NULL: 0 */
void cpu_swap_stop(struct cpu_swap *t);            /* both may go on; NULL is fine */

#endif
