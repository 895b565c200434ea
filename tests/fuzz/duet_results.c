/*
 * Fuzz target: any bytes read as a result file of each harness that sonde duet knows. The first byte chooses the
 * format, or that it shall be found by looking; whatever is read is written as CSV and JSON.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "duet/harness-parse.h"

#include <stdlib.h>
#include <string.h>

static const struct duet_format *choose(uint8_t which, const char *text)
{
	size_t count = 0;

	while (duet_formats[count].name)
		count++;
	which %= count + 1;
	return which < count ? &duet_formats[which] : duet_format_of(text);
}

static void write_out(const struct duet_table *table)
{
	struct buf text = BUF_INIT;

	duet_table_csv(table, &text);
	duet_table_json(table, &text);
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct duet_table table = DUET_TABLE_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct duet_parse p = { .path = "fuzz", .table = &table, .pattern = "([0-9.e+-]+) ([0-9.e+-]+)", .err = &err };
	const struct duet_format *format;
	char *text = malloc(n + 1);

	if (!n || !text) {
		free(text);
		return 0;
	}
	memcpy(text, data + 1, n - 1);
	text[n - 1] = '\0';
	format = choose(data[0], text);
	if (format && format->parse(&p, text, n - 1) == 0)
		write_out(&table);
	duet_table_release(&table);
	free(text);
	return 0;
}
