/* sandbox-private: state that is prepared before the fork and used after it. */
#ifndef SONDE_LAUNCH_SANDBOX_PRIVATE_H
#define SONDE_LAUNCH_SANDBOX_PRIVATE_H

#include "launch/sandbox.h"

/*
 * tmpfs for written files, mounted where it hides nothing that is needed: the sandbox mounts a new /proc. The new
 * root is assembled below it.
 */
#define SANDBOX_SCRATCH "/proc"
#define SANDBOX_ROOT SANDBOX_SCRATCH "/root"

/* An overlay (options), a bind mount (source), a symbolic link (link), or a copy of a directory (only lower). */
struct sandbox_layer {
	char *source, *target, *link;
	char *options, *lower, *upper, *work;
	bool is_file, is_read_only;
	const struct job_mount *mount; /* resolved by descriptor; NULL: by path */
	int tree;                      /* and the resulting detached mount, after the fork */
};

struct sandbox {
	struct sandbox_layer *layers; /* in the order of mounting */
	size_t layer_count;
	bool is_ordinary; /* uses a user namespace */
	bool is_parted;   /* created by sandbox-parts.c */
	bool has_own_network;
	char uid_map[64], gid_map[64];
};

struct sandbox_mounts { /* mount points in /proc/self/mountinfo */
	char **at;
	size_t count;
};

int sandbox_add_overlay(struct sandbox *s, const char *lower, const char *target);
int sandbox_add_bind(struct sandbox *s, const char *source, const char *target, bool is_read_only);
int sandbox_add_mount(struct sandbox *s, const struct job_mount *m);
int sandbox_add_link(struct sandbox *s, const char *path, const char *target); /* a copy of the link at path */
int sandbox_add_directory(struct sandbox *s, const char *like, const char *target);

/* sandbox-parts.c: is a single overlay over the root refused? Then add a layer for each part. */
bool sandbox_needs_parts(const struct sandbox *s, const struct sandbox_mounts *m, const char *root);
int sandbox_add_parts(struct sandbox *s, const struct sandbox_mounts *m, const char *root);
bool sandbox_is_below(const char *path, const char *dir); /* strictly below: false for dir itself */

#endif
