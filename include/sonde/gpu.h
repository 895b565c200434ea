/*
 * gpu.h: reports GPU commands to libsonde.
 *
 * For libraries that a GPU runtime loads into a program (an OpenCL layer, a CUDA injection library): they know what
 * the device executed and when, and find libsonde's functions by name. Without a recorder that name does not exist.
 * Programs themselves use sonde.h.
 */
#ifndef SONDE_GPU_H
#define SONDE_GPU_H

#include "sonde/shm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Unknown numbers are SONDE_NONE, times are CLOCK_MONOTONIC nanoseconds, missing texts are NULL. */
struct sonde_gpu_command {
	uint32_t kind;      /* enum sonde_gpu_kind */
	uint32_t direction; /* enum sonde_gpu_direction */
	const char *api, *name, *device;
	int32_t device_id;
	int32_t tid; /* thread that enqueued the command; 0 unknown */
	int32_t status;
	int64_t queue, bytes, items;
	int64_t queued_ns, submit_ns, start_ns, end_ns, error_ns;
};

#define SONDE_GPU_API_VERSION 1u
struct sonde_gpu_api {
	uint32_t version, bytes;
	const uint32_t *categories; /* what is recorded now: SONDE_CAT_GPU, SONDE_CAT_SPAN */
	void (*command)(const struct sonde_gpu_command *);
	void (*drop)(void); /* count a lost command */
};

#ifdef __cplusplus
}
#endif
#endif
