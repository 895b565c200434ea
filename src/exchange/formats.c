/* The table of formats; see exchange.h. */
#include "exchange/exchange.h"

#include <stddef.h>

/*
 * X(name, is_written, is_read): its table is exchange_<name>, in <name>.c; pfw's is in pfw-write.c. The first format
 * that recognizes a file reads it, so the stricter ones come first.
 */
#define FORMATS(X) \
	X(chrome, 1, 1) \
	X(perfetto, 1, 0) \
	X(pfw, 1, 1) \
	X(pfw_c, 1, 0) \
	X(pfw_d, 1, 0) \
	X(pfw_e, 1, 0) \
	X(folded, 1, 1) \
	X(pprof, 1, 0) \
	X(speedscope, 1, 0) \
	X(csv, 1, 0) \
	X(sofa, 1, 0) \
	X(strace, 0, 1) \
	X(perf, 0, 1) \
	X(pcap, 0, 1)

#define ROW_0(name)
#define ROW_1(name) &exchange_##name,
#define NAME_0(name)
#define NAME_1(name) #name,
#define DECLARE(name, is_written, is_read) extern const struct exchange_format exchange_##name;
#define WRITER(name, is_written, is_read) ROW_##is_written(name)
#define WRITER_NAME(name, is_written, is_read) NAME_##is_written(name)
#define READER(name, is_written, is_read) ROW_##is_read(name)
#define READER_NAME(name, is_written, is_read) NAME_##is_read(name)

FORMATS(DECLARE)
const struct exchange_format *const exchange_formats[] = { FORMATS(WRITER) };
const char *const exchange_names[] = { FORMATS(WRITER_NAME) NULL };
const struct exchange_format *const exchange_readers[] = { NULL, FORMATS(READER) };
const char *const exchange_reader_names[] = { "auto", FORMATS(READER_NAME) NULL };
