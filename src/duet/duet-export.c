/* duet-export: the times of each command in the formats of hyperfine, for tools that read those. */
#include "base/cleanup.h"
#include "duet/duet-report.h"
#include "duet/measurements.h"
#include "stats/summary.h"

#include <math.h>

/* One row of hyperfine's tables: a command and its times in seconds. */
struct export_row {
	const char *command;
	double *times;
	size_t n;
	struct stats_moments wall;
	double median, user, system;
};

/* NULL-free; false if out of memory or there is no time. */
static bool export_row(struct export_row *row, const struct duet_entry *e, enum duet_side side, struct arena *arena)
{
	static const double s = 1e-9;
	const struct duet_result *r = e->result;
	struct stats_moments user, system;
	double *sorted;
	size_t n = 0;

	for (size_t i = 0; i < r->run_count; i++)
		n += r->runs[i].sides[side].count;
	*row = (struct export_row){ .command = e->commands[side] ? e->commands[side]
				: e->name                        ? e->name
								 : "",
		.times = arena_alloc(arena, (n + 1) * sizeof(*row->times)) };
	sorted = arena_alloc(arena, (n + 1) * sizeof(*sorted));
	stats_moments_init(&user);
	stats_moments_init(&system);
	for (size_t i = 0; row->times && sorted && i < r->run_count; i++)
		for (size_t k = 0; k < r->runs[i].sides[side].count; k++) {
			const double *metrics = r->runs[i].sides[side].items[k].metrics;

			if (!isfinite(metrics[DUET_WALL]))
				continue;
			sorted[row->n] = row->times[row->n] = s * metrics[DUET_WALL];
			row->n++;
			if (isfinite(metrics[DUET_USER]))
				stats_moments_add(&user, s * metrics[DUET_USER]);
			if (isfinite(metrics[DUET_SYSTEM]))
				stats_moments_add(&system, s * metrics[DUET_SYSTEM]);
		}
	if (!row->n)
		return false;
	row->wall = stats_moments_of(row->times, row->n);
	row->median = stats_median(sorted, row->n);
	row->user = user.mean;
	row->system = system.mean;
	return true;
}

static void export_json_row(struct json *j, const struct export_row *row)
{
	json_object(j);
	json_kstr(j, "command", row->command);
	json_kreal(j, "mean", row->wall.mean);
	json_kreal(j, "stddev", stats_sd(&row->wall));
	json_kreal(j, "median", row->median);
	json_kreal(j, "user", row->user);
	json_kreal(j, "system", row->system);
	json_kreal(j, "min", row->wall.min);
	json_kreal(j, "max", row->wall.max);
	json_key(j, "times");
	json_array(j);
	for (size_t i = 0; i < row->n; i++)
		json_real(j, row->times[i]);
	json_end(j);
	json_end(j);
}

static void export_json(struct buf *out, const struct export_row *rows, size_t n)
{
	struct json j;

	json_init(&j, out, true);
	json_object(&j);
	json_key(&j, "results");
	json_array(&j);
	for (size_t i = 0; i < n; i++)
		export_json_row(&j, &rows[i]);
	json_end(&j);
	json_end(&j);
	buf_addc(out, '\n');
}

static void export_csv(struct buf *out, const struct export_row *rows, size_t n)
{
	buf_adds(out, "command,mean,stddev,median,user,system,min,max\n");
	for (size_t i = 0; i < n; i++) {
		const struct export_row *row = &rows[i];
		const double values[] = { row->wall.mean, stats_sd(&row->wall), row->median, row->user, row->system,
			row->wall.min, row->wall.max };

		duet_csv_cell(out, row->command);
		for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++)
			if (isfinite(values[k]))
				buf_addf(out, ",%.9g", values[k]);
			else
				buf_addc(out, ',');
		buf_addc(out, '\n');
	}
}

/* As hyperfine has it: relative to the fastest mean, with the error of a quotient. */
static void export_markdown_row(struct buf *out, const struct export_row *row, const struct export_row *fastest)
{
	double relative = row->wall.mean / fastest->wall.mean, sd = stats_sd(&row->wall);
	double error = relative * hypot(sd / row->wall.mean, stats_sd(&fastest->wall) / fastest->wall.mean);

	buf_addf(out, "| `%s` | %.1f ± %.1f | %.1f | %.1f | %.2f", row->command, 1e3 * row->wall.mean, 1e3 * sd,
			1e3 * row->wall.min, 1e3 * row->wall.max, relative);
	if (row != fastest)
		buf_addf(out, " ± %.2f", error);
	buf_adds(out, " |\n");
}

static void export_markdown(struct buf *out, const struct export_row *rows, size_t n)
{
	const struct export_row *fastest = rows;

	for (size_t i = 0; i < n; i++)
		fastest = rows[i].wall.mean < fastest->wall.mean ? &rows[i] : fastest;
	buf_adds(out, "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n|:---|---:|---:|---:|---:|\n");
	for (size_t i = 0; i < n; i++)
		export_markdown_row(out, &rows[i], fastest);
}

void duet_export(struct buf *out, const struct duet_report *r, enum duet_export format)
{
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	struct export_row *rows = arena_alloc(&arena, 2 * r->count * sizeof(*rows));
	size_t n = 0;

	/* Several comparisons of a ranking have the first command in common: it is one row. */
	for (size_t i = 0; rows && i < r->count; i++)
		for (int side = 0; side < DUET_SIDES; side++)
			if (!(r->is_ranking && i && side == DUET_A))
				n += export_row(&rows[n], &r->entries[i], (enum duet_side)side, &arena);
	if (format == DUET_EXPORT_JSON)
		export_json(out, rows, n);
	else if (format == DUET_EXPORT_CSV)
		export_csv(out, rows, n);
	else
		export_markdown(out, rows, n);
}
