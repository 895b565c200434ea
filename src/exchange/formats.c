/* The table of formats, and DFTracer's rows in it; see exchange.h. */
#include "exchange/exchange.h"
#include "pfw/pfw-write.h"

/*
 * X(name, is_written, is_read): its table is exchange_<name>, in <name>.c or above. The first format that
 * recognizes a file reads it, so the stricter ones come first.
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

/* DFTracer's traces (pfw/): one row per generation that has users. */
#define PFW_FORMAT(id, generation, text) \
	static int write_##id(struct model_run *run, FILE *out, const struct exchange_options *options, \
			struct sonde_err *err) \
	{ \
		return pfw_write(run, out, &options->range, generation, err); \
	} \
	const struct exchange_format exchange_##id = { \
		.name = #id, \
		.extension = ".pfw", \
		.what = text, \
		.write = write_##id, \
	};

PFW_FORMAT(pfw, 0, "DFTracer trace, in the generation it was imported from (default: C).")
PFW_FORMAT(pfw_c, 'C', "DFTracer trace of versions 1.0.8 to 1.0.15.")
PFW_FORMAT(pfw_d, 'D', "DFTracer trace of versions 2.0.0 to 2.0.2.")
PFW_FORMAT(pfw_e, 'E', "DFTracer trace of version 2.1 or later.")

const struct exchange_format *const exchange_formats[] = { FORMATS(WRITER) };
const char *const exchange_names[] = { FORMATS(WRITER_NAME) NULL };
const struct exchange_format *const exchange_readers[] = { NULL, FORMATS(READER) };
const char *const exchange_reader_names[] = { "auto", FORMATS(READER_NAME) NULL };
