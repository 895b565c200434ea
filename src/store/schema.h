/*
 * schema: the tables of a run and their columns.
 *
 * One X-macro per table lists its columns with their documentation. It generates the row struct (`struct store_io`),
 * a row of nulls (`store_io_nulls`), the column numbers (`STORE_IO_ts_ns`), the descriptor (`store_io_schema`) and
 * the typed `store_add_io` and `store_get_io`. A new table needs one STORE_COLUMNS_ macro and one row in
 * STORE_TABLES. A new column goes at the end of its macro: readers find columns by name, so older files yield nulls
 * for it. A column never changes its meaning; if it must, it gets a new name.
 *
 * Every field of a row struct is 8 bytes wide. An unknown value is null: STORE_NULL in an INT, NaN in a REAL, a NULL
 * pointer in a TEXT.
 */
#ifndef SONDE_STORE_SCHEMA_H
#define SONDE_STORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_NULL INT64_MIN              /* an unknown INT; equal to SONDE_NONE */
#define STORE_NULL_REAL __builtin_nan("") /* an unknown REAL; test with isnan: every NaN is null */
#define STORE_COLUMNS_MAX 64              /* columns of one table */
#define STORE_TEXT_BYTES_MAX ((size_t)16 << 20)

/* Borrowed bytes, not NUL-terminated. data NULL: null. */
struct store_text {
	const char *data;
	size_t bytes;
};

enum store_kind {
	STORE_INT = 1,  /* int64_t */
	STORE_REAL = 2, /* double */
	STORE_TEXT = 3  /* const struct store_text * */
};

enum store_semantic {
	STORE_PLAIN = 0,
	STORE_TIME,     /* CLOCK_MONOTONIC nanoseconds */
	STORE_DURATION, /* nanoseconds */
	STORE_COUNT,    /* a number of things or bytes */
	STORE_STRING,   /* id in the table `string` */
	STORE_FILE,     /* id in the table `file` */
	STORE_PROCESS,  /* number of a process (exec incarnation) in the table `process` */
	STORE_STACK     /* number of a call chain in the table `stack` */
};

/*
 * Columns: X(P, kind, name, semantic, documentation). The first TIME and the first DURATION column form the zone map.
 */
#define STORE_COLUMNS_IO(X, P) \
	X(P, INT, ts_ns, TIME, "start of the call") \
	X(P, INT, dur_ns, DURATION, "duration; null when its end was not observed") \
	X(P, INT, process, PROCESS, "number of the process image that called") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, tid, PLAIN, "thread id") \
	X(P, INT, call, STRING, "name of the call") \
	X(P, INT, file, FILE, "what the call acted on or opened; null when unknown") \
	X(P, INT, file2, FILE, "the second path of calls that take two, or the target of a copy; null otherwise") \
	X(P, INT, fd, PLAIN, "file descriptor; null when the call has none") \
	X(P, INT, ret, PLAIN, "what the call returned") \
	X(P, INT, errnum, PLAIN, "errno when the call failed, 0 when it succeeded") \
	X(P, INT, size, COUNT, "bytes asked for; null when the call has none") \
	X(P, INT, offset, PLAIN, "file offset where known, null otherwise") \
	X(P, INT, flags, PLAIN, "SONDE_CALL_ flags") \
	X(P, INT, arg0, PLAIN, "first further argument, named in the table call; null: none") \
	X(P, INT, arg1, PLAIN, "second further argument") \
	X(P, INT, arg2, PLAIN, "third further argument") \
	X(P, INT, arg3, PLAIN, "fourth further argument") \
	X(P, TEXT, text, PLAIN, \
			"a string argument other than a path: mode of fopen, name of an xattr; null otherwise") \
	X(P, INT, id, PLAIN, "number that an imported trace gave the event; null otherwise") \
	X(P, INT, parent, PLAIN, "id of the enclosing event in an imported trace, -1: none; null otherwise") \
	X(P, INT, depth, COUNT, "enclosing spans and calls in an imported trace; null otherwise") \
	X(P, TEXT, args, PLAIN, "arguments without a column as the text of a JSON object; null when there are none") \
	X(P, TEXT, extra, PLAIN, "other fields of the event in an imported trace, as the text of a JSON object")

#define STORE_COLUMNS_SPAN(X, P) \
	X(P, INT, ts_ns, TIME, "start of the span") \
	X(P, INT, dur_ns, DURATION, "duration; when is_open, to the last event of the thread") \
	X(P, INT, process, PROCESS, "number of the process image") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, tid, PLAIN, "thread id") \
	X(P, INT, name, STRING, "name of the span") \
	X(P, INT, category, STRING, "its category; null when none was given") \
	X(P, INT, depth, COUNT, "enclosing spans of the thread") \
	X(P, INT, is_open, PLAIN, "1 when the thread ended inside the span, else 0") \
	X(P, TEXT, args, PLAIN, "arguments as the text of a JSON object; null when there are none") \
	X(P, INT, id, PLAIN, "number that an imported trace gave the event; null otherwise") \
	X(P, INT, parent, PLAIN, "id of the enclosing event in an imported trace, -1: none; null otherwise") \
	X(P, TEXT, extra, PLAIN, "other fields of the event in an imported trace, as the text of a JSON object")

#define STORE_COLUMNS_STEP(X, P) \
	X(P, INT, ts_ns, TIME, "time of the step") \
	X(P, INT, process, PROCESS, "number of the process image") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, tid, PLAIN, "thread id") \
	X(P, INT, name, STRING, "name of the iteration") \
	X(P, INT, index, COUNT, "number of the step") \
	X(P, REAL, value, PLAIN, "the value given with it; null when none was")

#define STORE_COLUMNS_MARK(X, P) \
	X(P, INT, ts_ns, TIME, "time of the mark") \
	X(P, INT, process, PROCESS, "number of the process image") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, tid, PLAIN, "thread id") \
	X(P, INT, name, STRING, "name of the instant") \
	X(P, INT, category, STRING, "its category; null when none was given") \
	X(P, TEXT, args, PLAIN, "arguments as the text of a JSON object; null when there are none")

#define STORE_COLUMNS_COUNTER(X, P) \
	X(P, INT, ts_ns, TIME, "time of the value") \
	X(P, INT, process, PROCESS, "number of the process image that reported it; null when a probe read it") \
	X(P, INT, pid, PLAIN, "process id; null when the value is the machine's") \
	X(P, INT, tid, PLAIN, "thread id; null when the value is not of a thread") \
	X(P, INT, name, STRING, "name of the counter; the table series describes those of probes") \
	X(P, REAL, value, PLAIN, "the value; a probe writes it only when it has changed")

#define STORE_COLUMNS_META(X, P) \
	X(P, INT, process, PROCESS, "number of the process image") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, key, STRING, "name of the metadatum") \
	X(P, TEXT, value, PLAIN, "its value as text")

#define STORE_COLUMNS_PROCESS(X, P) \
	X(P, INT, process, PROCESS, "number of the process image, from 1; an exec makes a new one") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, ppid, PLAIN, "process id of the parent") \
	X(P, INT, parent, PROCESS, "process image that forked or executed this one; null when not watched") \
	X(P, INT, start_ns, TIME, "when it was first seen") \
	X(P, INT, end_ns, TIME, "when it ended; null when that was not observed") \
	X(P, INT, exe, STRING, "path of the program") \
	X(P, INT, cwd, STRING, "current directory at its start") \
	X(P, TEXT, argv, PLAIN, "the arguments, each ended by a NUL byte") \
	X(P, INT, exit_code, PLAIN, "exit code; null when killed or unknown") \
	X(P, INT, exit_signal, PLAIN, "signal that killed it; null otherwise") \
	X(P, INT, events, COUNT, "events stored") \
	X(P, INT, dropped, COUNT, "events dropped because the ring was full") \
	X(P, INT, filtered, COUNT, "events filtered") \
	X(P, INT, state, STRING, "ended, running, replaced by exec, or why it could not be traced")

#define STORE_COLUMNS_THREAD(X, P) \
	X(P, INT, process, PROCESS, "number of the process image") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, tid, PLAIN, "thread id") \
	X(P, INT, start_ns, TIME, "when it was first seen") \
	X(P, INT, end_ns, TIME, "when it ended; null when that was not observed") \
	X(P, INT, name, STRING, "name of the thread; null when unknown") \
	X(P, INT, events, COUNT, "events stored")

#define STORE_COLUMNS_FILE(X, P) \
	X(P, INT, file, FILE, "id of the file") \
	X(P, INT, base, FILE, "directory that name is relative to; null when name is absolute") \
	X(P, INT, name, STRING, "path, absolute or relative to base") \
	X(P, INT, hash, PLAIN, "64-bit hash that an imported trace knows the file by; null otherwise")

#define STORE_COLUMNS_CALL(X, P) \
	X(P, INT, call, STRING, "name of the call") \
	X(P, INT, category, STRING, "its category") \
	X(P, TEXT, arg_names, PLAIN, "names of io.arg0 and on, with commas between") \
	X(P, INT, kind, STRING, "what it does: read, write, copy, open, ...; null in runs of older versions") \
	X(P, INT, bytes_from, STRING, "which value is the number of bytes moved: none, unknown, result, ...") \
	X(P, INT, wait, STRING, "what a thread waits for in it: none, fd, network, ...") \
	X(P, TEXT, text_name, PLAIN, "name of io.text")

#define STORE_COLUMNS_DEFINE(X, P) \
	X(P, INT, process, PROCESS, "number of the process image that defined it") \
	X(P, INT, kind, PLAIN, "1 a name in its ring, 2 its program, 3 its directory, 4 its arguments") \
	X(P, INT, id, PLAIN, "number of the name in its ring") \
	X(P, INT, string, STRING, "the text")

#define STORE_COLUMNS_LINE(X, P) \
	X(P, INT, ts_ns, TIME, "its time; null when it has none") \
	X(P, INT, process, PROCESS, "number of the process image; null when unknown") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, tid, PLAIN, "thread id") \
	X(P, INT, id, PLAIN, "number that the trace gave it") \
	X(P, INT, phase, STRING, \
			"M metadata, C counter, A aggregate, or what else the trace calls it; null for nothing") \
	X(P, INT, name, STRING, "its name") \
	X(P, INT, category, STRING, "its category") \
	X(P, TEXT, args, PLAIN, "its arguments as the text of a JSON object; null when there are none") \
	X(P, TEXT, extra, PLAIN, "its other fields as the text of a JSON object; null when there are none")

#define STORE_COLUMNS_SAMPLE(X, P) \
	X(P, INT, ts_ns, TIME, "time of the sample") \
	X(P, INT, process, PROCESS, "number of the process image; null when the tracer does not know it") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, tid, PLAIN, "thread id") \
	X(P, INT, cpu, PLAIN, "CPU it ran on") \
	X(P, INT, event, STRING, \
			"what was sampled: cpu-clock, cycles, page-faults; unsampled: CPU time of a thread between " \
			"samples") \
	X(P, INT, weight_ns, COUNT, "CPU time that the sample represents; null when the event is not a clock") \
	X(P, INT, count, COUNT, "number of events that it represents; of clocks nanoseconds") \
	X(P, INT, is_kernel, PLAIN, "1 when the kernel ran on behalf of the thread, else 0") \
	X(P, INT, stack, STACK, "call chain; null when unknown")

#define STORE_COLUMNS_SCHED(X, P) \
	X(P, INT, ts_ns, TIME, "when the thread left its CPU") \
	X(P, INT, dur_ns, DURATION, "until it ran again; null when that was not observed") \
	X(P, INT, process, PROCESS, "number of the process image; null when the tracer does not know it") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, tid, PLAIN, "thread id") \
	X(P, INT, cpu, PLAIN, "CPU it had been running on") \
	X(P, INT, next_cpu, PLAIN, "CPU it ran on next; null when that was not observed") \
	X(P, INT, state, STRING, \
			"why: preempted, sleep, disk, stopped, traced, ended; wait when the kernel does not say for " \
			"what") \
	X(P, INT, wake_ns, TIME, "when it became runnable again; null when not observed or never blocked") \
	X(P, INT, waker_pid, PLAIN, "process that woke it; null when not observed, 0 for an interrupt on an idle CPU") \
	X(P, INT, waker_tid, PLAIN, "thread that woke it") \
	X(P, INT, stack, STACK, "call chain; null when unknown: the number per second is limited")

#define STORE_COLUMNS_TASK(X, P) \
	X(P, INT, process, PROCESS, "number of the process image; null when the tracer does not know it") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, tid, PLAIN, "thread id") \
	X(P, INT, ppid, PLAIN, "process id of the parent; null when it ran before the recording") \
	X(P, INT, start_ns, TIME, "when it began; null when it ran before the recording") \
	X(P, INT, end_ns, TIME, "when it ended; null when it outlived the recording") \
	X(P, INT, name, STRING, "its last name; of a process its program's") \
	X(P, INT, run_ns, COUNT, \
			"CPU time while recorded, with what a hypervisor stole meanwhile, without the end of its " \
			"exit; or null") \
	X(P, INT, samples, COUNT, "rows of the table sample")

#define STORE_COLUMNS_MODULE(X, P) \
	X(P, INT, module, PLAIN, "number of the module, from 1") \
	X(P, INT, kind, STRING, "elf, vdso, kernel, python: a source file, or memory: code that is in no file") \
	X(P, INT, path, STRING, "where it was mapped from, as its processes saw it") \
	X(P, TEXT, build_id, PLAIN, "its build id in hexadecimal; null when it has none or it is not known") \
	X(P, INT, pid, PLAIN, "process that owns the code, of kind memory; null otherwise")

#define STORE_COLUMNS_MAPPING(X, P) \
	X(P, INT, ts_ns, TIME, "when it was mapped; null when that was before the recording") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, start, PLAIN, "first address") \
	X(P, INT, bytes, COUNT, "length") \
	X(P, INT, offset, PLAIN, "offset in the file") \
	X(P, INT, module, PLAIN, "number of the module")

#define STORE_COLUMNS_STACK(X, P) \
	X(P, INT, stack, STACK, "number of the chain of frames, from 1: this frame and those of its parent") \
	X(P, INT, parent, STACK, "the chain of callers; null for the outermost frame") \
	X(P, INT, module, PLAIN, "number of the module; null when the address is in none") \
	X(P, INT, address, PLAIN, \
			"offset in the module's file (kernel and memory: address; python: start of the symbol plus " \
			"line) of the instruction, in callers of the call")

#define STORE_COLUMNS_SYMBOL(X, P) \
	X(P, INT, module, PLAIN, "number of the module: kernel, vdso, python or memory; files are named when looking") \
	X(P, INT, start, PLAIN, "first address") \
	X(P, INT, bytes, COUNT, "length; null when unknown: to the next") \
	X(P, INT, name, STRING, "name of the function")

#define STORE_COLUMNS_SERIES(X, P) \
	X(P, INT, name, STRING, "name of a counter that a probe reads") \
	X(P, INT, unit, STRING, "ns, bytes, or what is counted") \
	X(P, INT, is_total, PLAIN, "1: counts up from 0 at its first reading; 0: a level")

#define STORE_COLUMNS_PACKET(X, P) \
	X(P, INT, ts_ns, TIME, "time at which the kernel captured it") \
	X(P, INT, flow, PLAIN, "number of its flow in the table flow, which has addresses and ports") \
	X(P, INT, is_reply, PLAIN, "1: from the flow's destination to its source; 0: from its source") \
	X(P, INT, bytes, COUNT, \
			"length with the IP header, without the link's; several segments when the card splits") \
	X(P, INT, payload, COUNT, "of them after the TCP or UDP header; null without such a header") \
	X(P, INT, tcp_flags, PLAIN, "1 FIN, 2 SYN, 4 RST, 8 PSH, 16 ACK, 32 URG, 64 ECE, 128 CWR; null: no TCP") \
	X(P, INT, seq, PLAIN, "TCP's sequence number as sent; null: no TCP") \
	X(P, INT, ack, PLAIN, "what it acknowledges, as sent; null: no TCP, or nothing") \
	X(P, INT, is_retransmit, PLAIN, "1: all that it carries had been sent before; null: no TCP") \
	X(P, INT, interface, STRING, "where it was seen")

#define STORE_COLUMNS_FLOW(X, P) \
	X(P, INT, start_ns, TIME, "first packet of this interval of the flow") \
	X(P, INT, dur_ns, DURATION, "to the last packet of this interval") \
	X(P, INT, flow, PLAIN, "number of the flow, from 1; a long flow has several rows, which add up") \
	X(P, INT, is_new, PLAIN, "1 in the first row of a flow, else 0: their sum counts flows") \
	X(P, INT, protocol, STRING, "tcp, udp, icmp, icmp6, sctp, or ip when it is another one or unknown") \
	X(P, INT, family, PLAIN, "4: IPv4, 6: IPv6") \
	X(P, INT, source, STRING, "address of the opener if seen, else of the sender of the first packet") \
	X(P, INT, source_port, PLAIN, "its port; null when the protocol has none") \
	X(P, INT, destination, STRING, "the other address") \
	X(P, INT, destination_port, PLAIN, "its port; null when the protocol has none") \
	X(P, INT, interface, STRING, "where it was first seen; the same packet elsewhere is not counted again") \
	X(P, INT, is_loopback, PLAIN, "1 when both ends are on this machine, else 0") \
	X(P, INT, process, PROCESS, "process image of the run that owns its source; null when unknown or not of it") \
	X(P, INT, pid, PLAIN, "process that owns its source; null when unknown or on another machine") \
	X(P, INT, name, STRING, "that process's name") \
	X(P, INT, peer_process, PROCESS, "as process, of the destination") \
	X(P, INT, peer_pid, PLAIN, "as pid, of the destination") \
	X(P, INT, peer_name, STRING, "as name, of the destination") \
	X(P, INT, packets_out, COUNT, "from source to destination") \
	X(P, INT, packets_in, COUNT, "from destination to source") \
	X(P, INT, bytes_out, COUNT, "with IP headers, from source to destination") \
	X(P, INT, bytes_in, COUNT, "with IP headers, from destination to source") \
	X(P, INT, payload_out, COUNT, "without headers and without what was sent again, from source to destination") \
	X(P, INT, payload_in, COUNT, "without headers and without what was sent again, from destination to source") \
	X(P, INT, retransmits_out, COUNT, "packets of TCP that the source sent again; null: no TCP") \
	X(P, INT, retransmits_in, COUNT, "packets of TCP that the destination sent again; null: no TCP") \
	X(P, INT, rtt_ns, PLAIN, \
			"median time from a segment to its acknowledgement, of the side that is further; or null") \
	X(P, INT, rtt_min_ns, PLAIN, "the shortest such time; null when none was seen") \
	X(P, INT, rtts, COUNT, "how many such times were seen") \
	X(P, INT, vlan, PLAIN, "number of its VLAN; null when it has none") \
	X(P, INT, state, STRING, "open, closed (by both sides), reset, or null: no TCP")

#define STORE_COLUMNS_BLOCK(X, P) \
	X(P, INT, ts_ns, TIME, "when the request was given to the device") \
	X(P, INT, dur_ns, DURATION, "until the device had done it; null when that was not observed") \
	X(P, INT, queue_ns, PLAIN, "before ts_ns in the scheduler's queue; null when it was not queued") \
	X(P, INT, process, PROCESS, "process image that gave it to the device; null when it is not of the run") \
	X(P, INT, pid, PLAIN, "process that gave it to the device: of written data often a thread of the kernel's") \
	X(P, INT, tid, PLAIN, "thread") \
	X(P, INT, name, STRING, "its name") \
	X(P, INT, device, STRING, "name of the device, as in /proc/diskstats") \
	X(P, INT, sector, PLAIN, "first sector, of 512 bytes") \
	X(P, INT, bytes, COUNT, "length; 0 of flushes") \
	X(P, INT, rw, STRING, "read, write, flush, discard, or other") \
	X(P, INT, flags, STRING, "the kernel's letters: R, W, F, S sync, M metadata, A readahead; null when unknown") \
	X(P, INT, errnum, PLAIN, "errno of a failed request, 0 when it succeeded; null when the end was not observed")

#define STORE_COLUMNS_GPU(X, P) \
	X(P, INT, ts_ns, TIME, "start on the device") \
	X(P, INT, dur_ns, DURATION, "until the device had finished") \
	X(P, INT, process, PROCESS, "number of the process image that gave the command") \
	X(P, INT, pid, PLAIN, "process id") \
	X(P, INT, tid, PLAIN, "thread that gave the command; null when not known") \
	X(P, INT, api, STRING, "interface: opencl or cuda") \
	X(P, INT, kind, STRING, "kernel, copy, fill, map, unmap, or wait: a marker or barrier") \
	X(P, INT, name, STRING, "the kernel's name; of others what the interface calls the command") \
	X(P, INT, device, STRING, "name of the device") \
	X(P, INT, device_id, PLAIN, "its number: in the run by process (opencl), or the driver's (cuda)") \
	X(P, INT, queue, PLAIN, "number of the command queue or stream in the process; null when not known") \
	X(P, INT, direction, STRING, \
			"of copies: host-to-device, device-to-host, device-to-device, host-to-host, peer-to-peer; " \
			"null otherwise") \
	X(P, INT, bytes, COUNT, "moved or filled; null when the command has none") \
	X(P, INT, items, COUNT, "work items or threads of a kernel; null otherwise") \
	X(P, INT, queued_ns, TIME, "when the program gave the command; null when not known") \
	X(P, INT, submit_ns, TIME, "when it was handed to the device; null when not known") \
	X(P, INT, error_ns, COUNT, "maximum error of its times on the run's clock; null when unknown") \
	X(P, INT, status, PLAIN, "0, or the negative number of the interface's error that ended it")

#define STORE_COLUMNS_STRING(X, P) \
	X(P, INT, id, STRING, "number of the string, from 1") \
	X(P, TEXT, text, PLAIN, "its bytes")

/* Tables: X(name, NAME, version, documentation of a row). Adding a column increments the version. */
#define STORE_TABLES(X) \
	X(io, IO, 2, "one call on a file, descriptor, socket or process") \
	X(span, SPAN, 2, "one annotated interval of a thread") \
	X(step, STEP, 1, "one step of an iteration that the program announced") \
	X(mark, MARK, 1, "one annotated instant") \
	X(counter, COUNTER, 1, "one value of a counter") \
	X(meta, META, 1, "one metadatum that a process gave about itself") \
	X(process, PROCESS, 1, "one process image: from exec or fork to exec or exit") \
	X(thread, THREAD, 1, "one thread of a process image") \
	X(file, FILE, 2, "one file identity and its path") \
	X(call, CALL, 1, "one kind of call and the meaning of its arguments") \
	X(define, DEFINE, 1, "one text that a ring defined: what recovery needs to read the rest of it") \
	X(line, LINE, 1, "one record of an imported trace other than a timed event: metadata, counters, others") \
	X(sample, SAMPLE, 1, "one sample of a running thread") \
	X(sched, SCHED, 1, "one off-CPU interval of a thread") \
	X(task, TASK, 1, "one thread as the kernel saw it, with its exact CPU time") \
	X(module, MODULE, 1, "one file, or other place, that code was run from") \
	X(mapping, MAPPING, 1, "one executable mapping of a process") \
	X(stack, STACK, 1, "one frame and, by its parent, the chain that called it") \
	X(symbol, SYMBOL, 1, "one function that only the recording machine could name") \
	X(series, SERIES, 1, "what the values of one of a probe's counters mean") \
	X(packet, PACKET, 1, "one packet, without what it carried") \
	X(flow, FLOW, 1, "traffic between two ports in an interval") \
	X(block, BLOCK, 1, "one request to a block device") \
	X(gpu, GPU, 1, "one command that a device executed: a kernel, a copy, a fill") \
	X(string, STRING, 1, "one string that other tables refer to by id")

struct store_column_schema {
	const char *name;
	const char *doc;
	enum store_kind kind;
	enum store_semantic semantic;
};

struct store_schema {
	const char *name;
	const char *doc;
	unsigned version;
	unsigned count; /* of columns */
	const struct store_column_schema *columns;
};

#define STORE_FIELD_INT int64_t
#define STORE_FIELD_REAL double
#define STORE_FIELD_TEXT const struct store_text *
#define STORE_FIELD(P, kind, name, semantic, doc) STORE_FIELD_##kind name;
#define STORE_NUMBER(P, kind, name, semantic, doc) STORE_##P##_##name,
#define STORE_DECLARE(name, NAME, version, doc) \
	struct store_##name { \
		STORE_COLUMNS_##NAME(STORE_FIELD, NAME) \
	}; \
	enum { STORE_COLUMNS_##NAME(STORE_NUMBER, NAME) STORE_##NAME##_COLUMNS }; \
	_Static_assert(STORE_##NAME##_COLUMNS <= STORE_COLUMNS_MAX, "too many columns"); \
	_Static_assert(sizeof(struct store_##name) == 8 * STORE_##NAME##_COLUMNS, "a field is not 8 bytes"); \
	extern const struct store_schema store_##name##_schema; \
	extern const struct store_##name store_##name##_nulls; /* a row with every column null */

STORE_TABLES(STORE_DECLARE)

#define STORE_TABLE_ID(name, NAME, version, doc) STORE_TABLE_##NAME,
enum store_table_id { STORE_TABLES(STORE_TABLE_ID) STORE_TABLE_COUNT };

/* All tables of this version, indexed by enum store_table_id. */
extern const struct store_schema *const store_schemas[STORE_TABLE_COUNT];

const struct store_schema *store_schema_find(const char *name);          /* NULL if unknown */
int store_schema_column(const struct store_schema *s, const char *name); /* its number, or -1 */

#endif
