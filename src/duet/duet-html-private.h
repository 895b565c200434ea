/* duet-html-private: plots and sections of the HTML report. All of it is SVG and HTML without script. */
#ifndef SONDE_DUET_DUET_HTML_PRIVATE_H
#define SONDE_DUET_DUET_HTML_PRIVATE_H

#include "duet/duet-report.h"

/* "+1.23 %" for a ratio, "?" if unknown. */
void html_percent(struct buf *out, double ratio);

/* Intervals in rows over a common axis: this comparison with A against itself, or every benchmark. */
struct html_row {
	const char *name, *style; /* a CSS class: a verdict, "quiet" */
	const struct stats_interval *ratio;
};

void html_intervals(struct buf *out, const struct html_row *rows, size_t count, double margin);
/* Each pair's change in order of time, with the interval as a band. */
void html_scatter(struct buf *out, const struct duet_result *r);
/* The iterations of the first runs over time, A above B, and where they overlapped. */
void html_timeline(struct buf *out, const struct duet_result *r);
/* Which side was first, by run. */
void html_order(struct buf *out, const struct duet_result *r);

/* Analysis of the results: spread, width, overlap, detectable change, gain of a design. */
void html_analysis(struct buf *out, const struct duet_report *r);

#endif
