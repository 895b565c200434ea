/* files: which file each descriptor of a process is, and where it stands; see syscall-rows.h. */
#ifndef SONDE_PROBE_SYSCALL_FD_TABLE_H
#define SONDE_PROBE_SYSCALL_FD_TABLE_H

#include "base/map.h"
#include "store/sink.h"

#include <stdbool.h>
#include <stdint.h>

#define FILES_FIRST (1ull << 62) /* identities that no tracer gives */

struct files_fd {
	int64_t file; /* 0: unknown */
	int64_t pos;
	int32_t owner;   /* thread that alone moves it; 0: offsets unknown */
	uint32_t shared; /* epoch at open */
	char *path;      /* absolute as far as can be told; NULL: none */
};

struct files {
	struct store_sink *sink;
	uint64_t *next_file;
	struct files_fd *fds;
	size_t cap;
	uint32_t epoch; /* rises when others may move its descriptors too */
	int64_t cwd;
	char *cwd_path;
	struct map maps; /* address -> file; 0: none any more */
};

struct rows_process {
	struct rows_process *next;
	int32_t pid;
	bool is_opaque; /* which file its descriptors are cannot be told */
	struct files files;
	struct held *held; /* calls that were interrupted and may go on */
};

void files_init(struct files *f, struct store_sink *sink, uint64_t *next_file);
void files_release(struct files *f);
void files_fork(struct files *child, struct files *parent);

int64_t files_of(struct files *f, int fd); /* STORE_NULL: unknown */
int64_t files_opened(struct files *f, int fd, int32_t tid, bool is_private);
/* Something that the kernel calls `link`. */
int64_t files_made(struct files *f, int fd, const struct store_text *link);
void files_dup(struct files *f, int from, int to);
void files_share(struct files *f, int fd); /* others may move it */
void files_closed(struct files *f, int fd);
void files_forget(struct files *f); /* which is which is not known any more */
void files_closed_range(struct files *f, uint32_t first, uint32_t last);
void files_chdir(struct files *f, const struct store_text *to);
void files_mapped(struct files *f, uint64_t at, int64_t file);
int64_t files_unmapped(struct files *f, uint64_t at, bool is_done);
/* The offset at which a call began that moved by `moved`; STORE_NULL: unknown. */
int64_t files_advance(struct files *f, int fd, int32_t tid, int64_t moved);
void files_seek(struct files *f, int fd, int32_t tid, int64_t to);

/* That path, relative to dirfd, is the name of `file`, which was opened as its newest. */
void files_name(struct files *f, int64_t file, int dirfd, const struct store_text *path);
/* The whole path, by the letters alone, to be freed; NULL: not known. Without a path: the descriptor's. */
char *files_whole(const struct files *f, int dirfd, const struct store_text *path);
int64_t files_path(struct files *f, int dirfd, const struct store_text *path); /* one that was not opened */
bool files_is_wanted(struct files *f, const char *const *includes, const char *const *excludes, int dirfd,
		const struct store_text *path);
bool files_fd_is_wanted(struct files *f, const char *const *includes, const char *const *excludes, int fd);

#endif
