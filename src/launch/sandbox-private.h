/* sandbox-private: what is prepared before the fork and done after it. */
#ifndef SONDE_LAUNCH_SANDBOX_PRIVATE_H
#define SONDE_LAUNCH_SANDBOX_PRIVATE_H

#include "launch/sandbox.h"

/*
 * Memory for what is written, mounted where it hides nothing that is needed: the
 * sandbox has a /proc of its own. The new root is put together below it.
 */
#define SANDBOX_SCRATCH "/proc"
#define SANDBOX_ROOT SANDBOX_SCRATCH "/root"

struct sandbox_layer { /* an overlay (options), or something bound (source) */
	char *source, *target;
	char *options, *lower, *upper, *work;
	bool is_file, is_read_only;
};

struct sandbox {
	struct sandbox_layer *layers; /* in the order of mounting */
	size_t layer_count;
	bool is_ordinary; /* by way of a user namespace */
	bool has_own_network;
	char uid_map[64], gid_map[64];
};

#endif
