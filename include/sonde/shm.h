/*
 * sonde/shm.h: the shared memory layout between libsonde and its readers.
 *
 * A ring directory ($SONDE_RING) holds one file `control` and, for each traced process image, segment files
 * `<process>.<number>`:
 *
 *   control   one struct sonde_control, created by the recorder (or by the first
 *             process if there is none), mapped by every process
 *   calls     `calls-<hash>`, one for each build of libsonde that writes here: what the
 *             numbers of calls mean (src/calls/calls-text.h)
 *   board     `<process>.board`, metrics and knobs; see the end of this file
 *   knobs     initial knob values; see the end of this file
 *   segment   a struct sonde_segment page and `chunk_count` chunks of
 *             SONDE_CHUNK_BYTES; its blocks are allocated before it is mapped, so that
 *             no write into it can fail
 *   chunk     a struct sonde_chunk and records, appended by one thread
 *   record    a struct sonde_record head and 8-byte words
 *
 * Commit: a writer reserves room by advancing chunk->tail with one instruction (safe against signal handlers of its
 * own thread), writes the head as PENDING with its length, then the body, then the head again as DONE with a release
 * store. Readers walk from the first record; a zero head ends the walk for now, and so does a PENDING one while the
 * owner is alive. The kernel owns the pages, so DONE records survive any kind of crash. The first writer that finds no
 * room left writes an END over the rest: a full chunk has been read when its last byte has, and zeros before it are a
 * reservation of an interrupted writer.
 *
 * Ownership of a chunk is its word in segment->owner: 0 free, SONDE_OWNER_FULL written to the end, else the tid of the
 * thread that appends to it. A writer takes a free chunk, or adopts the chunk of a dead thread, by compare and swap;
 * the reader changes a dead thread's word to FULL the same way and stores 0 only after it has zeroed what it read. A
 * free chunk's tail has no room: a hook that was interrupted just before its reservation finds its thread's new chunk.
 * The owner writes the tail last: a chunk without a valid tail has no readable head yet.
 *
 * The traced program can overwrite everything here: readers check every index and trust nothing. The layout changes
 * only with SONDE_SHM_VERSION.
 */
#ifndef SONDE_SHM_H
#define SONDE_SHM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SONDE_SHM_VERSION 2u
#define SONDE_CONTROL_MAGIC 0x4c4f52544e4f4353ull /* "SCONTROL" */
#define SONDE_SEGMENT_MAGIC 0x544e454d47455353ull /* "SSEGMENT" */

#define SONDE_CHUNK_BYTES 32768u
#define SONDE_SEGMENT_HEAD_BYTES 4096u
/* Per segment; the first has one, so that a short process stays small, and each next one doubles. */
#define SONDE_CHUNKS_MAX 32u
#define SONDE_SEGMENTS_MAX 256u /* per process */
#define SONDE_RECORD_BYTES_MAX 16384u
#define SONDE_OPEN_SPANS_MAX 32u
#define SONDE_OWNER_FULL 0xffffffffu
#define SONDE_TAIL_CLOSED (1ull << 62) /* of a chunk that accepts no records */
#define SONDE_NONE INT64_MIN           /* an unknown integer */

enum sonde_overflow { SONDE_OVERFLOW_DROP = 0, SONDE_OVERFLOW_BLOCK = 1 };
enum sonde_clock { SONDE_CLOCK_TICKS = 0, SONDE_CLOCK_MONOTONIC = 1 };

/*
 * Categories of calls: X(name, bit in control.categories, word). Enum, options and tables are generated from this
 * list. DFTRACER is not part of "all": calls that only users of DFTracer need, most of them without a system call.
 */
#define SONDE_CATEGORIES(X) \
	X(DATA, 0, "data")       /* read, write and related calls */ \
	X(OPEN, 1, "open")       /* open, close, dup */ \
	X(META, 2, "meta")       /* stat, rename, chmod, xattr, lock ... */ \
	X(DIR, 3, "dir")         /* directories */ \
	X(SYNC, 4, "sync")       /* fsync and related calls */ \
	X(MAP, 5, "map")         /* mmap, munmap, msync */ \
	X(STDIO, 6, "stdio")     /* FILE streams */ \
	X(NET, 7, "net")         /* sockets, creation of pipes */ \
	X(PROCESS, 8, "process") /* fork, exec, wait, exit */ \
	X(AIO, 9, "aio")         /* POSIX aio */ \
	X(LIBC, 10, "libc")      /* libc calls that read files internally: dlopen, setlocale, getpwnam ... */ \
	X(SPAN, 11, "span")      /* annotations */ \
	X(FUNC, 12, "function")  /* -finstrument-functions */ \
	X(GPU, 13, "gpu")        /* GPU commands, reported by the libraries that GPU runtimes load */
#define SONDE_CATEGORIES_MORE(X) X(DFTRACER, 14, "dftracer")

#define SONDE_CATEGORY_ENUM(name, bit, word) SONDE_CAT_##name = 1u << (bit),
#define SONDE_CATEGORY_BIT(name, bit, word) | 1u << (bit)
enum sonde_category {
	SONDE_CATEGORIES(SONDE_CATEGORY_ENUM) SONDE_CATEGORIES_MORE(SONDE_CATEGORY_ENUM) /* one bit each */
	SONDE_CAT_ALL = 0 SONDE_CATEGORIES(SONDE_CATEGORY_BIT),
	SONDE_CAT_NET_DFTRACER = SONDE_CAT_NET | SONDE_CAT_DFTRACER,
	SONDE_CAT_LIBC_DFTRACER = SONDE_CAT_LIBC | SONDE_CAT_DFTRACER
};

#define SONDE_FILTERS_MAX 32u
#define SONDE_FILTER_TEXT_BYTES 3072u

/* One page: configuration first, then counters of processes. */
struct sonde_control {
	uint64_t magic;
	uint32_t version;
	uint32_t is_on; /* atomic; 0 stops every writer */
	uint32_t clock; /* enum sonde_clock */
	uint32_t overflow;
	uint32_t categories;
	int32_t recorder_pid; /* 0: no reader */
	uint64_t min_dur_ticks;
	uint64_t run_bytes_max;     /* all segments of the run */
	uint64_t process_bytes_max; /* segments of one process */
	uint64_t start_ticks;
	int64_t start_mono_ns;
	int64_t start_real_ns;
	uint32_t include_count; /* path prefixes: includes first, then excludes, in filter_text */
	uint32_t exclude_count;
	/* incremented by processes, atomically */
	uint32_t next_process; /* number of the next process image; the first gets 1 */
	uint32_t segments_made;
	uint64_t run_bytes;
	uint64_t untraced_forks;  /* children without a segment */
	uint64_t untraced_events; /* events of threads without a chunk */
	uint64_t drained_events;  /* by the recorder: consumed events */
	uint64_t reserved[4];
	uint64_t calls_hash; /* of a table that the directory has; 0: of none yet */
	/*
	 * Identity of the ring: the inode of its directory and a random number, both checked by a reader of run.json.
	 */
	uint64_t inode;
	uint64_t id[2];
	char filter_text[SONDE_FILTER_TEXT_BYTES]; /* consecutive NUL-terminated strings */
};

enum sonde_segment_kind { SONDE_SEGMENT_RING = 1, SONDE_SEGMENT_BOARD = 2 };

struct sonde_segment {
	uint64_t magic;
	uint32_t version;
	uint32_t kind;
	uint32_t process; /* number of the process image */
	uint32_t number;  /* of this segment within it, from 0 */
	int32_t pid;
	int32_t parent_pid;
	uint32_t parent; /* process image it was forked from, 0 if started by exec */
	uint32_t chunk_count;
	uint64_t start_ticks;
	int64_t start_mono_ns;
	uint64_t dropped;      /* atomic, number 0 only: events lost for lack of room */
	uint64_t calls_hash;   /* of the table of calls of the library that writes */
	uint32_t is_seccomped; /* the program has forbidden system calls (seccomp): no further mappings or lookups */
	uint32_t reserved[9];
	uint32_t owner[SONDE_CHUNKS_MAX]; /* atomic; see above */
};

/* An unfinished span or function: what a killed thread was doing. */
struct sonde_open_span {
	uint64_t ticks;
	uint64_t what; /* name id, or a code address with bit 63 set */
};

struct sonde_chunk {
	uint64_t tail;        /* bytes reserved, from the chunk's start */
	int32_t tid;          /* of the owner at `drained`, initially its first owner; WHO records name later ones */
	uint32_t depth;       /* unfinished spans, may exceed SONDE_OPEN_SPANS_MAX */
	uint64_t start_ticks; /* a clock pair, so that a chunk can be dated without other data */
	int64_t start_mono_ns;
	uint64_t filtered; /* events excluded by filters */
	uint64_t drained;  /* bytes consumed; written by the reader */
	uint64_t reserved[2];
	struct sonde_open_span open[SONDE_OPEN_SPANS_MAX];
};

#define SONDE_CHUNK_FIRST ((uint32_t)sizeof(struct sonde_chunk)) /* offset of the first record */

enum sonde_state {
	SONDE_PENDING = 1,
	SONDE_DONE = 2,
	SONDE_RUNNING = 3, /* a RUN that still grows */
	SONDE_END = 4      /* only a head; its length is the rest of the chunk */
};

enum sonde_kind {
	SONDE_REC_CALL = 1, /* struct sonde_rec_call */
	SONDE_REC_RUN,      /* struct sonde_rec_call; size counts bytes, args[0] calls: per-byte stdio */
	SONDE_REC_EXEC,     /* struct sonde_rec_call: an exec attempt; a CALL follows only if it failed */
	SONDE_REC_SPAN,     /* struct sonde_rec_note */
	SONDE_REC_INSTANT,  /* struct sonde_rec_note */
	SONDE_REC_COUNTER,  /* struct sonde_rec_note, value */
	SONDE_REC_STEP,     /* struct sonde_rec_note, index and value */
	SONDE_REC_META,     /* struct sonde_rec_note, args */
	SONDE_REC_FUNC,     /* struct sonde_rec_note; name is a code address */
	SONDE_REC_STRING,   /* struct sonde_rec_def: id and text */
	SONDE_REC_FILE,     /* struct sonde_rec_def: id, base and text */
	SONDE_REC_PROCESS,  /* struct sonde_rec_def: strings exe, cwd, then argv */
	SONDE_REC_WHO,      /* struct sonde_rec_who: the following records belong to this task */
	SONDE_REC_MODULE,   /* struct sonde_rec_def: id load bias, base end address, text path */
	SONDE_REC_GPU,      /* struct sonde_rec_gpu */
	SONDE_REC_BRIEF,    /* struct sonde_rec_brief: a SPAN with small numbers */
	SONDE_REC_KINDS
};

/* The head is one 8-byte word, stored at once. */
struct sonde_record {
	uint16_t words; /* length including the head, in 8-byte words */
	uint8_t kind;
	uint8_t state;
	uint16_t call;   /* CALL, RUN, EXEC: row of the call table */
	uint16_t errnum; /* 0 when the call succeeded */
};

/*
 * A file's identity is 64 bits: process << 32 | count, assigned at open, inherited by dup and fork. A path is
 * absolute, or relative to the file `base` (the directory of an *at call, or the current directory): readers join
 * them.
 */
struct sonde_rec_call {
	struct sonde_record head;
	uint64_t ticks;
	uint64_t dur_ticks;
	uint64_t file; /* the file acted on or opened; 0 unknown. Paths in the record define it, see `defines` */
	int64_t ret;
	int32_t fd;      /* -1 none */
	uint8_t args;    /* count of 8-byte arguments that follow */
	uint8_t strings; /* count of strings that follow the arguments */
	uint8_t defines; /* 1: strings[0] relative to `base` is the path of `file` */
	uint8_t flags;   /* SONDE_CALL_* */
	int64_t size;    /* requested bytes, or SONDE_NONE */
	int64_t offset;  /* file offset if known, or SONDE_NONE */
			 /* optional: int64_t args[]; then, if strings, uint64_t base; then the strings */
};

#define SONDE_CALL_PATH 0x01u     /* strings[0] is a path, relative to base */
#define SONDE_CALL_PATH2 0x02u    /* strings[1] is a path, relative to args[args - 1] as its base */
#define SONDE_CALL_NO_END 0x04u   /* the end was not observed: dur_ticks is unknown */
#define SONDE_CALL_UNTRACED 0x08u /* EXEC: the new program will not be traced; args[0] is the reason */

enum sonde_untraced {
	SONDE_UNTRACED_NO = 0,
	SONDE_UNTRACED_STATIC,
	SONDE_UNTRACED_SETUID,
	SONDE_UNTRACED_FOREIGN,
	SONDE_UNTRACED_SECCOMP,
	SONDE_UNTRACED_UNREACHABLE
};

/* A string in a record is its length and its bytes, padded to 8. */
struct sonde_string {
	uint32_t bytes;
	char text[];
};

enum sonde_arg_type { SONDE_ARG_INT = 1, SONDE_ARG_UINT, SONDE_ARG_REAL, SONDE_ARG_STR };

/* A typed argument of an annotation: 16 bytes, followed for STR by the text of `value` bytes, padded to 8. */
struct sonde_arg {
	uint32_t key; /* string id */
	uint32_t type;
	union {
		int64_t i;
		uint64_t u;
		double r;
	} value;
};

struct sonde_rec_note {
	struct sonde_record head; /* `call` holds the argument count */
	uint64_t ticks;
	uint64_t dur_ticks;
	uint64_t name;     /* string id; FUNC: code address */
	uint32_t category; /* string id, 0 none */
	uint32_t depth;
	int64_t index; /* STEP */
	double value;  /* COUNTER, STEP; NaN if not given */

	/* struct sonde_arg args[] */
};

/* A SPAN, INSTANT or FUNC without arguments may end here, before the unused index and value. */
#define SONDE_NOTE_SHORT_BYTES 40u

/* A SPAN without arguments, the usual case: `call` of the head holds its name, `errnum` its depth. */
struct sonde_rec_brief {
	struct sonde_record head;
	uint64_t ticks;
	uint32_t dur_ticks;
	uint32_t category;
};

struct sonde_rec_def {
	struct sonde_record head; /* `call` holds the string count */
	uint64_t id;
	uint64_t base;
	/* strings */
};

struct sonde_rec_who {
	struct sonde_record head;
	int32_t pid;
	int32_t tid;
};

enum sonde_gpu_kind {
	SONDE_GPU_KERNEL = 1,
	SONDE_GPU_COPY,
	SONDE_GPU_FILL,
	SONDE_GPU_MAP,
	SONDE_GPU_UNMAP,
	SONDE_GPU_WAIT, /* a marker or barrier */
	SONDE_GPU_KINDS
};

enum sonde_gpu_direction {
	SONDE_GPU_NOWHERE = 0,
	SONDE_GPU_HOST_TO_DEVICE,
	SONDE_GPU_DEVICE_TO_HOST,
	SONDE_GPU_DEVICE_TO_DEVICE,
	SONDE_GPU_HOST_TO_HOST,
	SONDE_GPU_PEER_TO_PEER,
	SONDE_GPU_DIRECTIONS
};

/* A command that a device executed. Its times are CLOCK_MONOTONIC, not ticks: they come from the device's clock. */
struct sonde_rec_gpu {
	struct sonde_record head;
	uint64_t ticks;    /* when it was reported */
	int64_t queued_ns; /* SONDE_NONE unknown, as in all the following */
	int64_t submit_ns;
	int64_t start_ns;
	int64_t end_ns;
	int64_t error_ns;
	int64_t bytes;
	int64_t items;
	int64_t queue;
	uint32_t name, api, device; /* string ids, 0 none */
	int32_t device_id;
	int32_t tid; /* 0 unknown */
	int32_t status;
	uint8_t kind, direction;
	uint8_t reserved[6];
};

/*
 * The board: metrics and knobs of a process, in a file `<process>.board` of the ring directory, created on first use:
 * a struct sonde_segment of kind BOARD (no chunks), followed by one struct sonde_board. The program's threads write
 * it, readers sample it at any time; a knob's `wanted` is written from outside. Readers skip slots of kind 0, which
 * are not in use (yet).
 */
#define SONDE_METRICS_MAX 256u
#define SONDE_HISTOGRAMS_MAX 64u
#define SONDE_KNOBS_MAX 64u
#define SONDE_NAME_BYTES 64u
#define SONDE_CHOICES_BYTES 128u
#define SONDE_HISTOGRAM_BUCKETS 256u

enum sonde_metric_kind {
	SONDE_METRIC_NONE = 0,
	SONDE_METRIC_COUNTER,
	SONDE_METRIC_GAUGE,
	SONDE_METRIC_HISTOGRAM,
	SONDE_METRIC_STEP,
	SONDE_METRIC_RATE,
	SONDE_METRIC_KINDS
};

struct sonde_metric {
	char name[SONDE_NAME_BYTES]; /* complete before `kind` is stored with release */
	uint32_t kind;
	/* all but COUNTER, GAUGE: 1 + index into histograms; past the maximum: none was left */
	uint32_t histogram;
	uint64_t count;    /* updates; atomic */
	uint64_t rejected; /* NaN, infinities, updates of another kind; atomic */
	/*
	 * bits of a double: COUNTER and RATE the sum, GAUGE and STEP the last value, NaN before the first step; atomic
	 */
	uint64_t value;
	uint64_t ticks; /* of the last update */
	int64_t index;  /* STEP: last index */
	/* COUNTER and RATE: of the first update, and the bits of its increment. 0: unknown (yet) */
	uint64_t first_ticks, first_value;
};

/*
 * Four buckets per octave, in equal factors, as in Prometheus' native histograms of schema 2. Bucket 0 holds values up
 * to 2^-30 (zero and negative values too), bucket 1 + 4 e + m values above 2^(e - 30 + m / 4) up to and including its
 * next bound, and the last one values above 2^33.5. A STEP's histogram is of the time between steps, in units of 2^30
 * ticks: scale its bounds by the tick.
 */
struct sonde_histogram {
	uint64_t sum;       /* bits of a double; atomic */
	uint64_t low, high; /* bits of the minimum and maximum, zero as -0.0; 0 none yet; atomic */
	uint64_t count;     /* atomic */
	uint64_t buckets[SONDE_HISTOGRAM_BUCKETS]; /* atomic */
};

/*
 * A RATE uses the memory of a histogram differently: time is divided into periods of 2^29 ticks, and the first update
 * in a period stores the sum before it. `count` is the newest period with an update; period p is stored at buckets[2
 * (p % SONDE_RATE_PERIODS)] (p itself, 0 while it is written) and the next element (bits of the sum). So readers know
 * the sum at the start of each of the last periods, even when updates have stopped.
 */
#define SONDE_RATE_PERIODS (SONDE_HISTOGRAM_BUCKETS / 2u)
#define SONDE_RATE_SHIFT 29u

static inline uint32_t sonde_histogram_bucket(double value)
{
	union {
		double r;
		uint64_t u;
	} bits;
	const uint64_t first = 1023 - 30;
	bits.r = value;
	if (!(value > 0) || (bits.u - 1) >> 52 < first)
		return 0;
	uint64_t below = bits.u - 1, part = below & 0xfffffffffffffull; /* a value on a bound belongs below it */
	uint64_t bucket = 4 * ((below >> 52) - first) + 1 + (part >= 0x306fe0a31b715ull) +
			(part >= 0x6a09e667f3bcdull) +
			(part >= 0xae89f995ad3adull); /* the fractions of 2^(1/4), 2^(1/2) and 2^(3/4) */
	return bucket < SONDE_HISTOGRAM_BUCKETS ? (uint32_t)bucket : SONDE_HISTOGRAM_BUCKETS - 1;
}

enum sonde_knob_kind { SONDE_KNOB_NONE = 0, SONDE_KNOB_INT, SONDE_KNOB_REAL, SONDE_KNOB_CHOICE };

/* Values are the bits of an int64_t (INT), a double (REAL) or the index of a choice from 0 (CHOICE). */
struct sonde_knob {
	char name[SONDE_NAME_BYTES];
	uint32_t kind;
	uint32_t generation; /* incremented from outside after `wanted` was written; atomic */
	uint64_t value;      /* current value, written by the program */
	uint64_t wanted;     /* requested from outside */
	uint64_t low, high;  /* bounds set by the program, inclusive */
	uint64_t fallback;   /* the program's default */
	uint32_t seen;       /* last generation that the program has read */
	uint32_t refused;    /* how often `wanted` was out of bounds: the old value was kept */
	uint64_t reserved;
	char choices[SONDE_CHOICES_BYTES]; /* CHOICE: "fast|safe|exact" */
};

/*
 * A file `knobs` in the ring directory, created before the program starts, holds up to SONDE_KNOBS_MAX of these: the
 * initial value of a knob of that name, if the program's bounds and choices allow it. The knob's kind selects the
 * member.
 */
struct sonde_knob_init {
	char name[SONDE_NAME_BYTES];
	int64_t whole; /* SONDE_NONE: no integer given */
	double real;   /* NaN: no number given */
	char choice[SONDE_NAME_BYTES];
};

struct sonde_board {
	uint32_t metric_count; /* allocated slots; atomic, may exceed the maximum */
	uint32_t knob_count;
	uint32_t histogram_count;
	uint32_t reserved[13];
	struct sonde_metric metrics[SONDE_METRICS_MAX];
	struct sonde_knob knobs[SONDE_KNOBS_MAX];
	struct sonde_histogram histograms[SONDE_HISTOGRAMS_MAX];
};

#ifdef __cplusplus
}
#endif
#endif
