#include "fleet/upload.h"

#include "base/cleanup.h"
#include "launch/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUBJECT_MAX = 128, WORDS_BYTES = 512 };

/* Runs tar with redirected stdin and stdout; on failure err has tar's message. */
static int run_tar(char *const argv[], int in, int out, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int words = memfd_create("sonde-words", MFD_CLOEXEC);
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *job = NULL;
	char text[WORDS_BYTES] = "";
	int rc;

	spec.argv = argv;
	spec.fds[0] = in;
	spec.fds[1] = out;
	spec.fds[2] = words < 0 ? JOB_FD_NULL : words;
	rc = job_start(&job, &spec, err);
	if (rc == 0)
		rc = job_wait(job, INT64_MAX, err);
	if (rc == 0 && job_status(job) != 0) {
		if (words >= 0 && pread(words, text, sizeof(text) - 1, 0) > 0)
			text[strcspn(text, "\n")] = '\0';
		rc = err_set(err, EIO, "%s", *text ? text : "tar failed");
	}
	job_free(job);
	return rc;
}

static int pack(const char *dir, int out, struct sonde_err *err)
{
	CLEANUP(cleanup_free) char *copy = strdup(dir);
	char *argv[] = { (char[]){ "tar" }, (char[]){ "-cz" }, (char[]){ "--exclude-vcs" }, (char[]){ "--sort=name" },
		(char[]){ "-C" }, copy, (char[]){ "." }, NULL };
	int rc = copy ? run_tar(argv, JOB_FD_NULL, out, err) : err_sys(err, ENOMEM, "cannot pack '%s'", dir);

	if (rc < 0)
		err_prefix(err, "cannot pack '%s'", dir);
	return rc;
}

static int unpack(const char *dir, int in, struct sonde_err *err)
{
	CLEANUP(cleanup_free) char *copy = strdup(dir);
	char *argv[] = { (char[]){ "tar" }, (char[]){ "-xz" }, (char[]){ "--no-same-owner" }, (char[]){ "-C" }, copy,
		NULL };
	int rc = copy ? run_tar(argv, in, JOB_FD_NULL, err) : err_sys(err, ENOMEM, "cannot unpack the files");

	if (rc < 0)
		err_prefix(err, "cannot unpack the job's files");
	return rc;
}

/* Computes hash and number of chunks of fd. */
static int measure(int fd, struct fleet_files *files, char *chunk, struct sonde_err *err)
{
	struct sha256 hash;
	off_t at = 0;
	ssize_t n;

	sha256_init(&hash);
	while ((n = pread(fd, chunk, FLEET_CHUNK_BYTES, at)) > 0) {
		sha256_add(&hash, chunk, (size_t)n);
		at += n;
	}
	if (n < 0)
		return err_sys(err, errno, "cannot read the archive");
	files->chunks = ((uint64_t)at + FLEET_CHUNK_BYTES - 1) / FLEET_CHUNK_BYTES;
	if (files->chunks > FLEET_CHUNKS_MAX)
		return err_set(err, EFBIG, "the archive is too large (maximum %d MiB)", FLEET_CHUNKS_MAX / 2);
	sha256_text(&hash, files->hash);
	return 0;
}

/* The last chunk is uploaded last. */
static int is_there(struct fleet_client *client, const struct fleet_files *files, struct sonde_err *err)
{
	char subject[SUBJECT_MAX];

	snprintf(subject, sizeof(subject), "sonde.files.%s.%llu", files->hash, (unsigned long long)files->chunks - 1);
	return fleet_client_has(client, subject, err);
}

static int send_chunks(struct fleet_client *client, int fd, const struct fleet_files *files, char *chunk,
		struct sonde_err *err)
{
	char subject[SUBJECT_MAX];
	int rc = 0;

	for (uint64_t i = 0; i < files->chunks && rc == 0; i++) {
		ssize_t n = pread(fd, chunk, FLEET_CHUNK_BYTES, (off_t)(i * FLEET_CHUNK_BYTES));

		snprintf(subject, sizeof(subject), "sonde.files.%s.%llu", files->hash, (unsigned long long)i);
		rc = n > 0 ? fleet_client_put(client, subject, chunk, (size_t)n, err)
			   : err_sys(err, EIO, "cannot read the archive");
	}
	return rc;
}

int fleet_push(struct fleet_client *client, const char *dir, struct fleet_files *files, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = memfd_create("sonde-push", MFD_CLOEXEC);
	CLEANUP(cleanup_free) char *chunk = malloc(FLEET_CHUNK_BYTES);
	int rc;

	*files = (struct fleet_files){ 0 };
	if (fd < 0 || !chunk)
		return err_sys(err, errno, "cannot pack '%s'", dir);
	rc = pack(dir, fd, err);
	if (rc == 0)
		rc = measure(fd, files, chunk, err);
	if (rc == 0)
		rc = is_there(client, files, err);
	return rc ? (rc < 0 ? rc : 0) : send_chunks(client, fd, files, chunk, err);
}

/* A download of chunks to a file. */
struct fetch {
	int fd;
	uint64_t chunks, taken;
	void (*tick)(void *arg);
	void *arg;
};

static int take_chunk(void *arg, const struct fleet_message *m)
{
	struct fetch *f = arg;
	const char *dot = strrchr(m->subject, '.');
	unsigned long long i = dot ? strtoull(dot + 1, NULL, 10) : f->chunks;

	f->tick(f->arg);
	if (i >= f->chunks || m->len > FLEET_CHUNK_BYTES)
		return -EBADMSG;
	if (pwrite(f->fd, m->bytes, m->len, (off_t)(i * FLEET_CHUNK_BYTES)) != (ssize_t)m->len)
		return -EIO;
	f->taken++;
	return 0;
}

static int fetch(struct fleet_client *client, const struct fleet_files *files, struct fetch *f, struct sonde_err *err)
{
	CLEANUP(cleanup_free) char *chunk = malloc(FLEET_CHUNK_BYTES);
	struct fleet_files got = { 0 };
	char subject[SUBJECT_MAX];
	int rc;

	if (!chunk)
		return err_sys(err, ENOMEM, "cannot fetch the job's files");
	snprintf(subject, sizeof(subject), "sonde.files.%s.*", files->hash);
	rc = fleet_client_read(client, subject, take_chunk, f, err);
	if (rc == 0 && f->taken < f->chunks)
		rc = err_set(err, ENOENT, "the server has removed the job's files");
	if (rc == 0)
		rc = measure(f->fd, &got, chunk, err);
	if (rc == 0 && strcmp(got.hash, files->hash) != 0)
		rc = -EBADMSG;
	return rc == -EBADMSG ? err_set(err, EBADMSG, "checksum mismatch of the job's files") : rc;
}

int fleet_work_open(struct tempdir *w, struct fleet_client *client, const struct fleet_files *files,
		void (*tick)(void *arg), void *arg, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int archive = memfd_create("sonde-files", MFD_CLOEXEC);
	struct fetch f = { .fd = archive, .chunks = files->chunks, .tick = tick, .arg = arg };
	int rc = archive < 0 ? err_sys(err, errno, "cannot fetch the job's files") : fetch(client, files, &f, err);

	if (rc < 0)
		return rc;
	rc = tempdir_make(w, FLEET_WORK, err);
	if (rc == 0 && lseek(archive, 0, SEEK_SET) < 0)
		rc = err_sys(err, errno, "cannot read the archive");
	if (rc == 0)
		rc = unpack(w->path, archive, err);
	if (rc < 0)
		tempdir_release(w);
	return rc;
}
