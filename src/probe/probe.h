/*
 * probe: what observes a run from outside.
 *
 * A probe is one file with one `const struct probe_ops` and one row in probes.c.
 * It reads from the kernel and adds rows to the sink; it neither prints nor waits.
 * No probe fails a run: one that cannot start says why, and what would enable it,
 * and the others go on. What it lost it counts.
 *
 * The order of its life: open (before the command exists), attach (the command
 * exists and waits before its exec; or what is observed already runs), pass again
 * and again, finish (nothing more will come), report, free. Only `open`, `pass`,
 * `report` and `free` are needed.
 */
#ifndef SONDE_PROBE_PROBE_H
#define SONDE_PROBE_PROBE_H

#include "base/err.h"
#include "store/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct json; /* base/json.h */

#define PROBES_MAX 32
#define PROBE_EVENTS_MAX 8

enum probe_target_kind {
	PROBE_COMMAND, /* a child of ours that waits before its exec, and all that come from it */
	PROBE_PID,     /* a process that runs already, and what it starts from now on */
	PROBE_CGROUP,  /* whoever is in a control group */
	PROBE_MACHINE, /* everybody on every CPU */
};

struct probe_target {
	enum probe_target_kind kind;
	pid_t pid;          /* COMMAND and PID */
	const char *cgroup; /* CGROUP: its directory */
};

enum probe_stacks {
	PROBE_STACKS_AUTO,  /* by .eh_frame where the machine is one we can do that for, else frame pointers */
	PROBE_STACKS_FRAME, /* frame pointers alone: cheaper, and cut where code has none */
	PROBE_STACKS_NONE,
};

struct probe_options {
	unsigned freq_hz; /* samples a second of CPU time */
	unsigned rate_hz; /* readings of the system's counters a second */
	enum probe_stacks stacks;
	const char *const *events; /* what to sample, NULL-terminated; NULL: cycles, else cpu-clock */
	bool has_packets;          /* net: a row for each packet, not for flows alone */
	/* syscalls: as the tracer's filters */
	const char *const *includes, *const *excludes; /* absolute paths, NULL-terminated; NULL: none */
	int64_t min_dur_ns;
	const char *calls_by;       /* "bpf", "perf" or "ptrace"; NULL: the first of these that works */
	bool has_tracer;            /* it is on, too: what it sees is left to it */
	bool has_own_pids;          /* the command lives in a namespace with numbers of its own */
	bool is_second;             /* another recorder of the run has the machine's own counters */
	bool has_engine;            /* what is started is an engine's client: the program is in its container */
	const char *ring, *library; /* the tracer's: calls on these are ours, not the program's; NULL: unknown */
};

/* An image that a probe has seen begin. */
struct probe_image {
	int32_t pid, parent; /* parent: who forked it; 0: it began by exec */
	int64_t ts_ns;
	struct store_text exe, cwd, argv; /* null: unknown, or as its parent's */
};

/* What the recorder lends to its probes. */
struct probe_host {
	struct probe_options options;
	struct probe_target target;
	struct store_sink *sink;
	/*
	 * The process image that had this pid at that time; STORE_NULL when unknown. NULL: nobody else writes the table
	 * process, so processes are what tasks.h sees, and get their numbers there.
	 */
	int64_t (*process_of)(void *arg, int64_t pid, int64_t ts_ns);
	/* A process of process_of has ended, by the kernel's own clock; NULL: nobody wants to know. */
	void (*process_ended)(void *arg, int64_t process, int64_t end_ns);
	/* Of the table call: the id of this call's name; STORE_NULL: the run leaves its category out. */
	int64_t (*call_id)(void *arg, const char *name);
	/* A process image that the tracer cannot see begins, and a process ends; NULL: nobody wants to know. */
	void (*begin_image)(void *arg, const struct probe_image *image);
	void (*end_image)(void *arg, int32_t pid, int status);
	void (*count_call)(void *arg, const struct store_io *row); /* one was added by a probe */
	void *arg;
	/* shared by probes, see tasks.h and perf/source.h */
	struct tasks *tasks;
	struct perf_source *perf;
	struct owners *owners; /* net/owners.h; NULL: net is off */
};

/* A call of connect or accept that the tracer saw, for whom it may concern. */
struct probe_peer {
	int64_t ts_ns, dur_ns;
	int32_t pid;
	bool is_accept;
	int family; /* AF_INET or AF_INET6 */
	int64_t port;
	const char *address; /* of the peer, in words */
};
void probe_on_peer(struct probe_host *host, const struct probe_peer *p);

struct probe_ops {
	const char *name;   /* the word after --probes */
	const char *doc;    /* what it tells, one line without a full stop */
	const char *option; /* of record, that switches it on: it is not among "all"; NULL: it is */
	/*
	 * Make *state. -errno with the reason and perhaps a hint: the probe has failed and is not called again.
	 * -ENODEV: there is nothing for it to observe here, which is no failure.
	 */
	int (*open)(struct probe_host *host, void **state, struct sonde_err *err);
	/* host->target is known now. As open. */
	int (*attach)(void *state, struct sonde_err *err);
	/* Descriptors that become readable when it wants a pass early; returns how many of `room` it used. */
	size_t (*fds)(void *state, int *fds, size_t room);
	/* When it wants to be called next, CLOCK_MONOTONIC; INT64_MAX: whenever convenient. */
	int64_t (*due_ns)(void *state);
	/* Take what is there. Returns how many events that were. */
	uint64_t (*pass)(void *state, int64_t now_ns);
	/* Take the rest and write the rows of dimensions. */
	void (*finish)(void *state, int64_t now_ns);
	void (*conclude)(void *state); /* when the lives of all threads are known; NULL: nothing to say then */
	/* What was counted, and further key-value pairs for run.json. */
	void (*report)(void *state, struct json *j);
	void (*free)(void *state);
};

#define PROBE_CAPTURE_HELPER "/libexec/sonde/sonde-capture" /* below the prefix */
/* Does the helper that `sonde setup` gives the right to capture for us? 0, -EACCES: not for this user, else -errno. */
int probe_packets_check(struct sonde_err *err);

extern const struct probe_ops *const probe_table[]; /* NULL at the end */
extern const char *const probe_words[]; /* what --probes takes: their names, the recorder's own trace, all, none */
bool probe_has_event(const char *name); /* can it be sampled, on some machine? */
bool probe_is_wanted(const char *const *names, const char *name); /* names as probe_set_open takes them */

/* What became of a probe, for run.json and for people. */
enum probe_state { PROBE_OFF, PROBE_RAN, PROBE_FAILED };

struct probe_status {
	const struct probe_ops *ops;
	enum probe_state state;
	struct sonde_err why; /* FAILED: the reason; RAN: what it could not do; "" for nothing */
	uint64_t events, lost;
	int64_t cpu_ns; /* what it cost us */
};

/* For probes: the number of the process that had this pid then; STORE_NULL when it has none. */
int64_t probe_process(const struct probe_host *host, int32_t pid, int64_t ts_ns);
/* For probes: events and losses so far are theirs to count in the status they find by their ops. */
void probe_count(struct probe_host *host, const struct probe_ops *ops, uint64_t events, uint64_t lost);
/* It runs, but not with all it could: the reason and what would enable the rest. */
void probe_remark(struct probe_host *host, const struct probe_ops *ops, const struct sonde_err *why);

/* At the end: there was nothing for it to observe. */
void probe_absent(struct probe_host *host, const struct probe_ops *ops, const struct sonde_err *why);

/* All of them, as the recorder drives them. */
struct probe_set {
	struct probe_host host; /* first: probe_count finds its set from it */
	struct probe_status status[PROBES_MAX];
	size_t count;
	/* private */
	void *states[PROBES_MAX];
	uint64_t old_files; /* how many might be open before we asked for more; 0: we did not */
};

/*
 * Open those whose names are listed, NULL-terminated; NULL or "all": all but those with an option; "none": none.
 * Other names are ignored.
 */
void probe_set_open(struct probe_set *s, const char *const *names, const struct probe_options *options,
		struct store_sink *sink);
void probe_set_attach(struct probe_set *s, const struct probe_target *target);
/* The program is not what the target starts but this process, which waits before its exec. */
void probe_set_meet(struct probe_set *s, pid_t pid);
bool probe_set_is_idle(const struct probe_set *s); /* no probe runs */
size_t probe_set_fds(struct probe_set *s, int *fds, size_t room);
int64_t probe_set_due_ns(struct probe_set *s);
uint64_t probe_set_pass(struct probe_set *s);
void probe_set_finish(struct probe_set *s);
/* One object a probe, into an open array. */
/* Their states and why; when it is over, also what they have counted. */
void probe_set_write(struct probe_set *s, bool is_over, struct json *j);
void probe_set_release(struct probe_set *s);

/* The next step when a setting of the machine stands in the way. */
#define PROBE_HINT_SETUP "sudo sonde setup enables more; sonde doctor says what"

extern const char *const probe_state_words[];

#endif
