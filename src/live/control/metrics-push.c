#include "live/control/metrics-push.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "launch/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define EVERY_USUAL_NS 15000000000

struct metrics_push {
	struct push_options options;
	struct live_exporter *exporter;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_ending;
};

static int write_textfile(const char *path, const struct buf *text, struct sonde_err *err)
{
	int rc = fs_replace_file(AT_FDCWD, path, text->data, text->len, err);

	return rc == 0 && chmod(path, 0644) ? err_sys(err, errno, "cannot create '%s' readable", path) : rc;
}

static int push(const char *url, const struct buf *text, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf request = BUF_INIT;
	struct transfer_answer answer;
	size_t n = strlen(url);
	int rc;

	while (n && url[n - 1] == '/')
		n--;
	buf_addf(&request, "PUT %.*s/metrics/job/sonde\nheader Content-Type: text/plain\ntimeout 10\n\n", (int)n, url);
	buf_add(&request, text->data, text->len);
	rc = transfer_run(&request, &answer, err);
	if (rc == 0 && answer.status / 100 != 2)
		rc = err_set(err, EIO, "the Pushgateway returned HTTP status %ld", answer.status);
	return rc;
}

static int deliver(const struct push_options *options, struct live_exporter *e, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = live_metrics(e, EXPOSITION_TEXT, &text, err);

	if (rc == 0 && options->textfile)
		rc = write_textfile(options->textfile, &text, err);
	if (rc == 0 && options->push)
		rc = push(options->push, &text, err);
	return rc;
}

static void *work(void *arg)
{
	struct metrics_push *o = arg;

	pthread_mutex_lock(&o->lock);
	while (!o->is_ending) {
		int64_t next_ns;
		struct timespec until;

		pthread_mutex_unlock(&o->lock);
		if (deliver(&o->options, o->exporter, NULL) < 0)
			__atomic_add_fetch(&o->exporter->undelivered, 1, __ATOMIC_RELAXED);
		pthread_mutex_lock(&o->lock);
		next_ns = clock_mono_ns() + (o->options.every_ns ? o->options.every_ns : EVERY_USUAL_NS);
		until = (struct timespec){ next_ns / 1000000000, next_ns % 1000000000 };
		while (!o->is_ending && pthread_cond_timedwait(&o->wake, &o->lock, &until) == 0)
			;
	}
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

int metrics_push_start(struct metrics_push **out, const struct push_options *options, struct live_exporter *e,
		struct sonde_err *err)
{
	struct metrics_push *o;
	pthread_condattr_t attr;
	int rc;

	*out = NULL;
	if (!options->textfile && !options->push)
		return 0;
	o = calloc(1, sizeof(*o));
	if (!o)
		return err_sys(err, ENOMEM, "cannot push metrics");
	o->options = *options;
	o->exporter = e;
	pthread_mutex_init(&o->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&o->wake, &attr);
	pthread_condattr_destroy(&attr);
	rc = pthread_create(&o->thread, NULL, work, o);
	if (rc) {
		free(o);
		return err_sys(err, rc, "cannot push metrics");
	}
	*out = o;
	return 0;
}

void metrics_push_free(struct metrics_push *o)
{
	if (!o)
		return;
	pthread_mutex_lock(&o->lock);
	o->is_ending = true;
	pthread_cond_signal(&o->wake);
	pthread_mutex_unlock(&o->lock);
	pthread_join(o->thread, NULL);
	if (o->options.textfile)
		unlink(o->options.textfile); /* do not leave outdated values */
	pthread_cond_destroy(&o->wake);
	pthread_mutex_destroy(&o->lock);
	free(o);
}
