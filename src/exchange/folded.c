/*
 * folded: stacks in the format of flame graph tools, one per line:
 *
 *   program;main;work;read 12
 *
 * The number is the count of samples with that stack; the sum of all lines is the number of samples of the run's first
 * sampled event. Semicolons in C++ function names are replaced by commas. Kernel frames end in _[k].
 */
#include "exchange/exchange.h"
#include "exchange/folded-read.h"
#include "exchange/stack-profile.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "model/dimensions.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct folding {
	struct profile profile;
	struct map counts; /* (name, stack) -> samples */
	struct map lines;  /* text -> samples */
};

static int count_row(void *arg, const struct store_sample *row, int64_t name)
{
	struct folding *f = arg;
	int64_t key[2] = { name, row->stack };
	uint64_t *at = map_put(&f->counts, key, sizeof(key), NULL);

	if (!at)
		return -ENOMEM;
	*at += (uint64_t)profile_value(&f->profile, row);
	return 0;
}

static void add_label(struct buf *line, const char *text)
{
	for (; *text; text++)
		buf_addc(line, *text == ';' ? ',' : *text == '\n' ? ' ' : *text);
}

static int add_frame(void *arg, const struct model_frame *frame)
{
	struct buf *line = arg;

	buf_addc(line, ';');
	add_label(line, model_frame_label(frame));
	buf_adds(line, frame->is_kernel ? "_[k]" : "");
	return 0;
}

static int make_lines(struct folding *f)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;

	for (size_t i = 0; i < f->counts.count; i++) {
		int64_t key[2];
		size_t len;
		uint64_t *at;
		const char *name;

		memcpy(key, map_key(&f->counts, i, &len), sizeof(key));
		name = model_cname(f->profile.run, key[0]);
		buf_reset(&line);
		add_label(&line, name ? name : "[unknown]");
		profile_frames(&f->profile, key[1], add_frame, &line);
		at = buf_error(&line) ? NULL : map_put(&f->lines, line.data, line.len, NULL);
		if (!at)
			return -ENOMEM;
		*at += map_value(&f->counts, i);
	}
	return 0;
}

static int print_lines(const struct folding *f, FILE *out, struct sonde_err *err)
{
	for (size_t i = 0; i < f->lines.count; i++) {
		size_t len;
		const char *text = map_key(&f->lines, i, &len);

		if (fprintf(out, "%.*s %" PRIu64 "\n", (int)len, text, map_value(&f->lines, i)) < 0)
			return err_sys(err, errno, "cannot write the stacks");
	}
	return 0;
}

static int write_folded(struct model_run *run, FILE *out, const struct exchange_options *options, struct sonde_err *err)
{
	struct folding f = { .counts = MAP_INIT };
	int rc = profile_open(&f.profile, run, options, err);

	if (!rc) {
		rc = profile_each(&f.profile, count_row, &f);
		if (!rc)
			rc = make_lines(&f);
		rc = rc ? err_sys(err, -rc, "cannot count the stacks") : print_lines(&f, out, err);
	}
	map_release(&f.counts);
	map_release(&f.lines);
	profile_release(&f.profile);
	return rc;
}

const struct exchange_format exchange_folded = {
	.name = "folded",
	.extension = ".folded",
	.what = "Folded stacks, one per line, for flame graph tools.",
	.write = write_folded,
	.is_mine = folded_is_mine,
	.read = folded_read,
};
