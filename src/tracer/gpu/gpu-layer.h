/*
 * gpu-layer: shared by the runtimes' entry points: records for libsonde, and device clocks.
 *
 * A device's clock is compared with CLOCK_MONOTONIC by bracketing: a device time that lies between two readings of
 * ours bounds the offset from both sides. The narrowest recent bracket is used; half its width is the error.
 */
#ifndef SONDE_TRACER_GPU_GPU_LAYER_H
#define SONDE_TRACER_GPU_GPU_LAYER_H

#include "sonde/gpu.h"

#include <stdbool.h>

#define GPU_EXPORT __attribute__((visibility("default")))

bool gpu_is_on(void); /* are GPU commands recorded? */
void gpu_emit(const struct sonde_gpu_command *c);
void gpu_drop(void);
int64_t gpu_now_ns(void);

#define GPU_CLOCK_FRESH_NS 1000000000ll /* device clocks drift: measure again after that */

struct gpu_clock { /* all zero: unknown */
	bool is_known;
	int64_t low, high; /* ours minus the device's lies between */
	int64_t at_ns;     /* time of the measurement */
};

/* The device's clock showed device_ns at some time between before_ns and after_ns. */
void gpu_clock_bracket(struct gpu_clock *k, int64_t device_ns, int64_t before_ns, int64_t after_ns);
bool gpu_clock_is_stale(const struct gpu_clock *k, int64_t now_ns);
int64_t gpu_clock_ns(const struct gpu_clock *k, uint64_t device_ns); /* SONDE_NONE: unknown */
int64_t gpu_clock_error_ns(const struct gpu_clock *k);

#endif
