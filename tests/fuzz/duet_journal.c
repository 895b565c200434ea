/* Fuzz target: any bytes read as the journal of a comparison; what is read is judged and shown. */
#include "fuzz.h"

#include "duet/duet-replay.h"

enum { RUNS_MOST = 200 }; /* judging more takes longer, not other ways */

static void show(struct duet_journal *j)
{
	struct duet_replay r;
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf page = BUF_INIT;

	if (duet_replay_of(&r, j, &err) == 0)
		duet_report_html(&page, &r.report, r.is_growing);
	duet_replay_release(&r);
	buf_release(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct duet_journal j = DUET_JOURNAL_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf text = BUF_INIT;

	buf_add(&text, data, n);
	if (duet_journal_parse(&j, &text, &err) == 0 && j.run_count <= RUNS_MOST)
		show(&j); /* takes it */
	else
		duet_journal_release(&j);
	buf_release(&text);
	return 0;
}
