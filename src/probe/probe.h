/*
 * probe: interface of the probes, which observe a run from outside.
 *
 * A probe is one file with one `const struct probe_ops` and one row in probes.c.
 * It reads from the kernel and adds rows to the sink; it neither prints nor
 * blocks. A probe never fails a run: if it cannot start, it reports why and what
 * would enable it, and the others continue. It counts what it loses.
 *
 * Order of calls: open (before the command is started), attach (the command waits
 * before its exec, or the target already runs), pass repeatedly, finish (the run
 * has ended), report, free. Only `open`, `pass`, `report` and `free` are required.
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
	PROBE_COMMAND, /* our child, which waits before its exec, and its descendants */
	PROBE_PID,     /* a running process and its future children */
	PROBE_CGROUP,  /* all processes in a cgroup */
	PROBE_MACHINE, /* all processes on all CPUs */
};

struct probe_target {
	enum probe_target_kind kind;
	pid_t pid;          /* COMMAND and PID */
	const char *cgroup; /* CGROUP: its directory */
};

enum probe_stacks {
	PROBE_STACKS_AUTO,  /* .eh_frame on supported architectures, else frame pointers */
	PROBE_STACKS_FRAME, /* frame pointers only: cheaper, but truncated in code without them */
	PROBE_STACKS_NONE,
};

struct probe_options {
	unsigned freq_hz; /* samples per second of CPU time */
	unsigned rate_hz; /* samples of the system's counters per second */
	enum probe_stacks stacks;
	const char *const *events; /* events to sample, NULL-terminated; NULL: cycles, else cpu-clock */
	bool has_packets;          /* net: a row per packet, in addition to flows */
	/* syscalls: same as the tracer's filters */
	const char *const *includes, *const *excludes; /* absolute paths, NULL-terminated; NULL: none */
	int64_t min_dur_ns;
	const char *calls_by;       /* "bpf", "perf" or "ptrace"; NULL: the first of these that works */
	bool has_tracer;            /* the tracer is on: calls that it records are skipped */
	bool has_own_pids;          /* the command runs in its own PID namespace */
	bool is_second;             /* another recorder of the run records the machine's counters */
	bool has_engine;            /* the command is a container engine's client: the program runs in the container */
	const char *ring, *library; /* of the tracer: calls on these are ours, not the program's; NULL: unknown */
};

/* A process (exec incarnation) that a probe saw start. */
struct probe_image {
	int32_t pid, parent; /* parent: the process that forked it; 0: started by exec */
	int64_t ts_ns;
	struct store_text exe, cwd, argv; /* null: unknown, or inherited from the parent */
};

/* Services of the recorder for its probes. */
struct probe_host {
	struct probe_options options;
	struct probe_target target;
	struct store_sink *sink;
	/*
	 * Returns the process (exec incarnation) that had this pid at that time; STORE_NULL if unknown. NULL: no other
	 * component writes the table process, so tasks.h does and assigns the numbers.
	 */
	int64_t (*process_of)(void *arg, int64_t pid, int64_t ts_ns);
	/* Called when a process of process_of has exited, with the kernel's timestamp; may be NULL. */
	void (*process_ended)(void *arg, int64_t process, int64_t end_ns);
	/* Returns the id of this call name in the table call; STORE_NULL: the run excludes its category. */
	int64_t (*call_id)(void *arg, const char *name);
	/* Called when a process that is untraced starts, and when a process exits; may be NULL. */
	void (*begin_image)(void *arg, const struct probe_image *image);
	void (*end_image)(void *arg, int32_t pid, int status);
	void (*count_call)(void *arg, const struct store_io *row); /* called for each row that a probe adds */
	void *arg;
	/* shared by probes, see tasks.h and perf/source.h */
	struct tasks *tasks;
	struct perf_source *perf;
	struct owners *owners; /* net/owners.h; NULL: net is off */
};

/* A connect or accept call recorded by the tracer. */
struct probe_peer {
	int64_t ts_ns, dur_ns;
	int32_t pid;
	bool is_accept;
	int family; /* AF_INET or AF_INET6 */
	int64_t port;
	const char *address; /* of the peer, as text */
};
void probe_on_peer(struct probe_host *host, const struct probe_peer *p);

struct probe_ops {
	const char *name;   /* argument of --probes */
	const char *doc;    /* one-line description without a full stop */
	const char *option; /* of record, that enables it: "all" excludes it; NULL: "all" includes it */
	/*
	 * Allocates *state. Returns -errno with the reason and an optional hint if the probe failed; it is not called
	 * again. Returns -ENODEV if the machine has nothing for it to observe, which does not count as a failure.
	 */
	int (*open)(struct probe_host *host, void **state, struct sonde_err *err);
	/* host->target is set now. Returns as open. */
	int (*attach)(void *state, struct sonde_err *err);
	/* Stores descriptors that become readable when a pass is due early; returns how many of `room` it used. */
	size_t (*fds)(void *state, int *fds, size_t room);
	/* Returns the time of the next call, CLOCK_MONOTONIC; INT64_MAX: no deadline. */
	int64_t (*due_ns)(void *state);
	/* Consumes the available events. Returns their number. */
	uint64_t (*pass)(void *state, int64_t now_ns);
	/* Consumes the remaining events and writes the rows of dimension tables. */
	void (*finish)(void *state, int64_t now_ns);
	void (*conclude)(void *state); /* called when all threads have end times; may be NULL */
	/* Writes counts and other key-value pairs to run.json. */
	void (*report)(void *state, struct json *j);
	void (*free)(void *state);
};

#define PROBE_CAPTURE_HELPER "/libexec/sonde/sonde-capture" /* below the prefix */
/* Checks that the helper enabled by `sonde setup` can capture for us: 0, -EACCES if not for this user, else -errno. */
int probe_packets_check(struct sonde_err *err);

extern const struct probe_ops *const probe_table[]; /* NULL-terminated */
extern const char *const probe_words[];             /* arguments of --probes: probe names, trace, all, none */
bool probe_has_event(const char *name);             /* is it a known event, on any machine? */
bool probe_is_wanted(const char *const *names, const char *name); /* names as in probe_set_open */

/* Outcome of a probe, for run.json and for messages. */
enum probe_state { PROBE_OFF, PROBE_RAN, PROBE_FAILED };

struct probe_status {
	const struct probe_ops *ops;
	enum probe_state state;
	struct sonde_err why; /* FAILED: the reason; RAN: a limitation; "" if none */
	uint64_t events, lost;
	int64_t cpu_ns; /* overhead */
};

/* For probes: returns the number of the process that had this pid then; STORE_NULL if it has none. */
int64_t probe_process(const struct probe_host *host, int32_t pid, int64_t ts_ns);
/* For probes, when they finish: the numbers of events and losses of the whole run. */
void probe_count(struct probe_host *host, const struct probe_ops *ops, uint64_t events, uint64_t lost);
/* The probe runs with a limitation: why, and what would remove it. */
void probe_remark(struct probe_host *host, const struct probe_ops *ops, const struct sonde_err *why);

/* At the end: there was nothing for it to observe. */
void probe_absent(struct probe_host *host, const struct probe_ops *ops, const struct sonde_err *why);

/* All probes, driven by the recorder. */
struct probe_set {
	struct probe_host host; /* first: probe_count casts it to its set */
	struct probe_status status[PROBES_MAX];
	size_t count;
	/* private */
	void *states[PROBES_MAX];
	uint64_t old_files; /* soft RLIMIT_NOFILE before we raised it; 0: not raised */
};

/*
 * Opens the probes in the NULL-terminated list. NULL or "all": all probes without an option; "none": none. Unknown
 * names are ignored.
 */
void probe_set_open(struct probe_set *s, const char *const *names, const struct probe_options *options,
		struct store_sink *sink);
void probe_set_attach(struct probe_set *s, const struct probe_target *target);
/* The program is this process, which waits before its exec, instead of the one that the target starts. */
void probe_set_on_start(struct probe_set *s, pid_t pid);
bool probe_set_is_idle(const struct probe_set *s); /* no probe runs */
size_t probe_set_fds(struct probe_set *s, int *fds, size_t room);
int64_t probe_set_due_ns(struct probe_set *s);
uint64_t probe_set_pass(struct probe_set *s);
void probe_set_finish(struct probe_set *s);
/* Writes one object per probe into an open array: state and reason; when the run is over, also the counts. */
void probe_set_write(struct probe_set *s, bool is_over, struct json *j);
void probe_set_release(struct probe_set *s);

/* Hint for probes that a setting of the machine disables. */
#define PROBE_HINT_SETUP "sudo sonde setup enables more; sonde doctor lists what"

extern const char *const probe_state_words[];

#endif
