/*
 * opencl: the state of the layer: the program's queues, and enqueued commands that have not been seen to complete.
 *
 * It registers no callbacks and creates no threads: completion is polled when the program enqueues another command,
 * waits or exits. A command's event is the program's if it asked for one; it is retained until its times have been
 * read.
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

extern cl_icd_dispatch opencl_next; /* the next layer; missing entries are NULL */

/* A queue as created by the program. */
struct opencl_queue {
	cl_command_queue handle;
	bool is_forced; /* profiling is on although the program did not request it */
	bool has_properties;
	cl_queue_properties properties[OPENCL_PROPERTIES_MAX]; /* as given, terminated by 0 */
	struct opencl_device *device;
	int64_t number;
	struct opencl_queue *after;
};

/* Add a new queue. properties NULL: created without a list. */
void opencl_queue_made(cl_command_queue handle, cl_device_id device, bool is_forced, const cl_queue_properties *list);
void opencl_queue_released(cl_command_queue handle);
/* The program's settings; false if the queue is unknown or was not changed. */
bool opencl_queue_find(cl_command_queue handle, struct opencl_queue *out);

/* Description of a command, before its times are known. */
struct opencl_what {
	enum sonde_gpu_kind kind;
	enum sonde_gpu_direction direction;
	const char *name; /* NULL: the kernel's */
	cl_kernel kernel;
	int64_t bytes, items;
	bool is_blocking; /* the call waits for its completion */
};

/* Around a command: opencl_begin, the real call with watch.event, opencl_end. */
struct opencl_watch {
	cl_command_queue queue;
	cl_event *event; /* the program's or our own; NULL: the queue is not recorded and the program requested none */
	cl_event own;
	bool is_watched;
	int64_t begin_ns;
};

void opencl_begin(struct opencl_watch *w, cl_command_queue queue, cl_event *event);
cl_int opencl_end(struct opencl_watch *w, cl_int status, const struct opencl_what *what);
void opencl_collect(void);            /* report all completed commands */
cl_uint opencl_holds(cl_event event); /* number of our references to it */

/* opencl-commands.c: replace entries of the table by our functions. */
void opencl_watch_commands(cl_icd_dispatch *table);

#endif
