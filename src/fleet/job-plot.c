/*
 * Loss over time as a text plot: one mean per terminal column.
 */
#include "fleet/job-decisions.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 70, HEIGHT = 20 };

struct points {
	struct point {
		double time_s, loss;
		int64_t config;
	} * all;
	size_t count, cap;
	uint64_t epoch;
	bool is_out_of_memory;
};

static void take(void *arg, const struct fleet_job *job, const struct fleet_report *r)
{
	struct points *p = arg;

	if (job->epoch != p->epoch) { /* a new lease restarts the command */
		p->epoch = job->epoch;
		p->count = 0;
	}
	if (!isfinite(r->loss) || p->is_out_of_memory)
		return;
	if (p->count == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 1024;
		struct point *all = reallocarray(p->all, cap, sizeof(*all));

		if (!all) {
			p->is_out_of_memory = true;
			return;
		}
		p->all = all;
		p->cap = cap;
	}
	p->all[p->count++] = (struct point){ r->time_s, r->loss, r->config };
}

static int column_of(const struct points *p, double time_s)
{
	double first = p->all[0].time_s, last = p->all[p->count - 1].time_s;

	return last > first ? (int)((time_s - first) / (last - first) * (WIDTH - 1)) : 0;
}

/* Computes the mean of each column, NaN if empty, and marks changes of the configuration. */
static void gather(const struct points *p, double mean[WIDTH], char marks[WIDTH + 1])
{
	size_t count[WIDTH] = { 0 };

	memset(mean, 0, WIDTH * sizeof(*mean));
	memset(marks, '-', WIDTH);
	marks[WIDTH] = '\0';
	for (size_t i = 0; i < p->count; i++) {
		int at = column_of(p, p->all[i].time_s);

		at = at < 0 ? 0 : at >= WIDTH ? WIDTH - 1 : at;
		mean[at] += p->all[i].loss;
		count[at]++;
		if (i && p->all[i].config != p->all[i - 1].config)
			marks[at] = '|';
	}
	for (int i = 0; i < WIDTH; i++)
		mean[i] = count[i] ? mean[i] / (double)count[i] : NAN;
}

static void draw(const struct points *p)
{
	double mean[WIDTH], low = INFINITY, high = -INFINITY;
	char marks[WIDTH + 1], line[WIDTH + 1];

	gather(p, mean, marks);
	for (int i = 0; i < WIDTH; i++) {
		low = fmin(low, mean[i]);
		high = fmax(high, mean[i]);
	}
	for (int row = 0; row < HEIGHT; row++) {
		double top = high - (high - low) * row / (HEIGHT - 1), half = (high - low) / (HEIGHT - 1) / 2;

		for (int i = 0; i < WIDTH; i++)
			line[i] = fabs(mean[i] - top) <= half ? '*' : ' ';
		line[WIDTH] = '\0';
		printf("%9.4g %s\n", top, line);
	}
	printf("%9s %s\n%9s %-10.4g%*.4g s\n", "", marks, "", p->all[0].time_s, WIDTH - 12,
			p->all[p->count - 1].time_s);
}

int job_print_plot(struct fleet_client *client, const char *id, struct sonde_err *err)
{
	struct points p = { 0 };
	struct fleet_jobs jobs_state;
	int rc;

	fleet_jobs_init(&jobs_state);
	jobs_state.on_report = take;
	jobs_state.arg = &p;
	rc = fleet_client_fold(client, id, true, &jobs_state, err);
	fleet_jobs_release(&jobs_state);
	if (rc == 0 && p.is_out_of_memory)
		rc = err_sys(err, ENOMEM, "cannot draw the losses");
	else if (rc == 0 && !p.count)
		rc = err_set(err, ENOENT, "'%s' has reported no losses", id);
	else if (rc == 0)
		draw(&p);
	free(p.all);
	return rc;
}
