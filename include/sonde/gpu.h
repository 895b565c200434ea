/*
 * gpu.h: commands that devices executed, told to libsonde.
 *
 * For libraries that the runtime of a device loads into a program (a layer of OpenCL,
 * an injection of CUDA): they know what the device did and when, and find by its name
 * what libsonde offers. Where nothing records there is no such name. Programs
 * themselves use sonde.h.
 */
#ifndef SONDE_GPU_H
#define SONDE_GPU_H

#include "sonde/shm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers that are not known are SONDE_NONE, times CLOCK_MONOTONIC nanoseconds, texts NULL when there are none. */
struct sonde_gpu_command {
	uint32_t kind;      /* enum sonde_gpu_kind */
	uint32_t direction; /* enum sonde_gpu_direction */
	const char *api, *name, *device;
	int32_t device_id;
	int32_t tid; /* who gave the command; 0 unknown */
	int32_t status;
	int64_t queue, bytes, items;
	int64_t queued_ns, submit_ns, start_ns, end_ns, error_ns;
};

#define SONDE_GPU_API_VERSION 1u
struct sonde_gpu_api {
	uint32_t version, bytes;
	const uint32_t *categories; /* what is recorded now: SONDE_CAT_GPU, SONDE_CAT_SPAN */
	void (*command)(const struct sonde_gpu_command *);
	void (*drop)(void); /* one was lost */
};

#ifdef __cplusplus
}
#endif
#endif
