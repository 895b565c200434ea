/* exposition-private: shared by exposition.c, its text format and its protocol buffers. */
#ifndef SONDE_LIVE_EXPOSITION_PRIVATE_H
#define SONDE_LIVE_EXPOSITION_PRIVATE_H

#include "live/exposition.h"

void exposition_line(struct exposition *x, const char *suffix, double value, const struct exposition_label *labels,
		size_t count);
void exposition_buckets(struct exposition *x, const struct exposition_histogram *h,
		const struct exposition_label *labels, size_t label_count);
void protobuf_family(struct exposition *x, const char *help);
void protobuf_value(struct exposition *x, double value, const struct exposition_label *labels, size_t count);
void protobuf_summary(struct exposition *x, double sum, uint64_t count, const struct exposition_label *labels,
		size_t label_count);
void protobuf_histogram(struct exposition *x, const struct exposition_histogram *h,
		const struct exposition_label *labels, size_t label_count);
void protobuf_flush(struct exposition *x); /* writes the pending family */
/* Appends the text; invalid UTF-8 is replaced. */
void exposition_clean(struct buf *out, const char *text, bool is_escaped);
const char *exposition_sample_suffix(enum exposition_type type);

#endif
