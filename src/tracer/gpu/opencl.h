/*
 * opencl: the layer's own state: the queues that programs made, and the commands that
 * they gave to them and of which the end has not been seen.
 *
 * No callback is registered and no thread is made: ends are looked for when the program
 * gives another command, waits, or ends. A command's event is the program's where it
 * asked for one, and is kept until its times have been read.
 */
#ifndef SONDE_TRACER_GPU_OPENCL_H
#define SONDE_TRACER_GPU_OPENCL_H

#include "tracer/gpu/gpu-layer.h"

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_layer.h>

#define OPENCL_PROPERTIES_MAX 32

extern cl_icd_dispatch opencl_next; /* what lies below us; entries that it does not have are NULL */

/* A queue as the program made it. */
struct opencl_queue {
	cl_command_queue handle;
	bool is_forced; /* the program did not ask for profiling, and it is on */
	bool has_properties;
	cl_queue_properties properties[OPENCL_PROPERTIES_MAX]; /* as it gave them, ended by 0 */
	struct opencl_device *device;
	int64_t number;
	struct opencl_queue *after;
};

/* Remember a queue that was just made. properties NULL: it was made without a list. */
void opencl_queue_made(cl_command_queue handle, cl_device_id device, bool is_forced, const cl_queue_properties *list);
void opencl_queue_released(cl_command_queue handle);
/* What the program gave; false: it is no queue of ours, or nothing was changed about it. */
bool opencl_queue_find(cl_command_queue handle, struct opencl_queue *out);

/* What a command is, before its times are known. */
struct opencl_what {
	enum sonde_gpu_kind kind;
	enum sonde_gpu_direction direction;
	const char *name; /* NULL: the kernel's */
	cl_kernel kernel;
	int64_t bytes, items;
	bool is_blocking; /* its end has been waited for */
};

/* Around a command: opencl_begin, the real call with watch.event, opencl_end. */
struct opencl_watch {
	cl_command_queue queue;
	cl_event *event; /* the program's or our own; NULL: the queue is not watched and it asked for none */
	cl_event own;
	bool is_watched;
	int64_t begin_ns;
};

void opencl_begin(struct opencl_watch *w, cl_command_queue queue, cl_event *event);
cl_int opencl_end(struct opencl_watch *w, cl_int status, const struct opencl_what *what);
void opencl_collect(void);            /* tell of all that have ended */
cl_uint opencl_holds(cl_event event); /* how many references to it are ours */

/* opencl-commands.c: put our functions over those of the table. */
void opencl_watch_commands(cl_icd_dispatch *table);

#endif
