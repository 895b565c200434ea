/* What the parts of a report's page share: plots and sections. Everything is SVG and HTML without script. */
#ifndef SONDE_DUET_DUET_HTML_PRIVATE_H
#define SONDE_DUET_DUET_HTML_PRIVATE_H

#include "duet/duet-report.h"

/* "+1.23 %" of a ratio, "?" when it is not known. */
void html_percent(struct buf *out, double ratio);

/* Intervals in rows over one axis of changes: this comparison with A against itself, or every benchmark. */
struct html_row {
	const char *name, *style; /* a class of the page: a verdict, "quiet" */
	const struct stats_interval *ratio;
};

void html_intervals(struct buf *out, const struct html_row *rows, size_t count, double margin);
/* Each pair's change in order of time, with the interval as a band. */
void html_scatter(struct buf *out, const struct duet_result *r);
/* When the iterations of the first runs were, A above B, and where they overlapped. */
void html_timeline(struct buf *out, const struct duet_result *r);
/* Which side began, run by run. */
void html_order(struct buf *out, const struct duet_result *r);

/* What a notebook would work out of the results: spread, width, overlap, detectable change, what a design gains. */
void html_analysis(struct buf *out, const struct duet_report *r);

#endif
