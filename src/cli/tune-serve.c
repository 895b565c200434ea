#include "cli/tune-serve.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "tune/protocol.h"
#include "tune/study-journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads requests from stdin and writes responses to stdout, until the input ends. */
static int converse(struct tune_optimizer *o, const struct tune_study *study, struct tune_journal *journal,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(cleanup_free) char *line = NULL;
	size_t cap = 0;
	ssize_t size;
	int rc = 0;

	while (rc == 0 && (size = getline(&line, &cap, stdin)) >= 0) {
		if (size > TUNE_LINE_MAX)
			return err_set(err, EFBIG, "a request is longer than %d bytes", TUNE_LINE_MAX);
		rc = tune_answer(o, study, journal, line, (size_t)size, &out, err);
		fwrite(out.data, 1, out.len, stdout);
		fflush(stdout);
		buf_reset(&out);
		if (ferror(stdout))
			break;
	}
	return rc;
}

int tune_serve(struct tune_optimizer *o, const struct tune_study *study, const char *dir, struct sonde_err *err)
{
	CLEANUP(tune_journal_release) struct tune_journal journal = TUNE_JOURNAL_INIT;
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc;

	if (!dir)
		return converse(o, study, NULL, err);
	rc = fs_mkdir_p(dir, 0700, err);
	buf_addf(&path, "%s/journal.jsonl", dir);
	if (rc == 0)
		rc = tune_journal_open(&journal, path.data, study, o, err);
	return rc < 0 ? rc : converse(o, study, &journal, err);
}
