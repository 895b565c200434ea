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

/* An overlay (options), something bound (source), a symbolic link (link), or a directory like another (lower alone). */
struct sandbox_layer {
	char *source, *target, *link;
	char *options, *lower, *upper, *work;
	bool is_file, is_read_only;
	const struct job_mount *mount; /* it is resolved by descriptor; NULL: by its path */
	int tree;                      /* and this is what came of it, after the fork */
};

struct sandbox {
	struct sandbox_layer *layers; /* in the order of mounting */
	size_t layer_count;
	bool is_ordinary; /* by way of a user namespace */
	bool is_parted;   /* sandbox-parts.c made it */
	bool has_own_network;
	char uid_map[64], gid_map[64];
};

struct sandbox_mounts { /* where something is mounted, by /proc/self/mountinfo */
	char **at;
	size_t count;
};

int sandbox_add_overlay(struct sandbox *s, const char *lower, const char *target);
int sandbox_add_bind(struct sandbox *s, const char *source, const char *target, bool is_read_only);
int sandbox_add_mount(struct sandbox *s, const struct job_mount *m);
int sandbox_add_link(struct sandbox *s, const char *path, const char *target); /* a link like the one at path */
int sandbox_add_directory(struct sandbox *s, const char *like, const char *target);

/* sandbox-parts.c: is one overlay over the root refused? Then a layer for each of its parts. */
bool sandbox_needs_parts(const struct sandbox *s, const struct sandbox_mounts *m, const char *root);
int sandbox_add_parts(struct sandbox *s, const struct sandbox_mounts *m, const char *root);
bool sandbox_is_below(const char *path, const char *dir); /* and is not dir itself */

#endif
