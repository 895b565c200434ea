/* fd-table: the file and offset of each descriptor of a process; see syscall-rows.h. */
#ifndef SONDE_PROBE_SYSCALL_FD_TABLE_H
#define SONDE_PROBE_SYSCALL_FD_TABLE_H

#include "base/map.h"
#include "store/sink.h"

#include <stdbool.h>
#include <stdint.h>

#define FILES_FIRST (1ull << 62) /* identities beyond the tracer's */

struct files_fd {
	int64_t file; /* 0: unknown */
	int64_t pos;
	int32_t owner;   /* the only thread that uses it; 0: offsets unknown */
	uint32_t shared; /* epoch at open */
	char *path;      /* absolute if possible; NULL: none */
};

struct files {
	struct store_sink *sink;
	uint64_t *next_file;
	struct files_fd *fds;
	size_t cap;
	uint32_t epoch; /* incremented when other processes may move its offsets */
	int64_t cwd;
	char *cwd_path;
	struct map maps; /* address -> file; 0: unmapped */
};

struct rows_process {
	struct rows_process *next;
	int32_t pid;
	bool is_opaque; /* the files of its descriptors are unknown */
	struct files files;
	struct held *held; /* interrupted calls that may be restarted */
};

void files_init(struct files *f, struct store_sink *sink, uint64_t *next_file);
void files_release(struct files *f);
void files_fork(struct files *child, struct files *parent);

int64_t files_of(struct files *f, int fd); /* STORE_NULL: unknown */
int64_t files_opened(struct files *f, int fd, int32_t tid, bool is_private);
/* A new descriptor with this link in /proc. */
int64_t files_made(struct files *f, int fd, const struct store_text *link);
void files_dup(struct files *f, int from, int to);
void files_share(struct files *f, int fd); /* others may move its offset */
void files_closed(struct files *f, int fd);
void files_forget(struct files *f); /* the files of all descriptors are unknown from now on */
void files_closed_range(struct files *f, uint32_t first, uint32_t last);
void files_chdir(struct files *f, const struct store_text *to);
void files_mapped(struct files *f, uint64_t at, int64_t file);
int64_t files_unmapped(struct files *f, uint64_t at, bool is_done);
/* Returns the offset before a call that moved it by `moved`; STORE_NULL: unknown. */
int64_t files_advance(struct files *f, int fd, int32_t tid, int64_t moved);
void files_seek(struct files *f, int fd, int32_t tid, int64_t to);

/* Sets the name of `file`, the newest one opened, to this path relative to dirfd. */
void files_name(struct files *f, int64_t file, int dirfd, const struct store_text *path);
/* Returns the absolute path, resolved lexically, to be freed; NULL: unknown. Without a path: the descriptor's. */
char *files_whole(const struct files *f, int dirfd, const struct store_text *path);
int64_t files_path(struct files *f, int dirfd, const struct store_text *path); /* of a file that was not opened */
bool files_is_wanted(struct files *f, const char *const *includes, const char *const *excludes, int dirfd,
		const struct store_text *path);
bool files_fd_is_wanted(struct files *f, const char *const *includes, const char *const *excludes, int fd);

#endif
