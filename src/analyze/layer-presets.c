/*
 * Layer rules that come with sonde, in the syntax of user files: posix, for any program, and dlio, for DLIO benchmark
 * jobs, as in DFAnalyzer.
 */
#include "analyze/layer-rules.h"

const char *const rules_presets[] = { "posix", "dlio", NULL };

#define POSIX \
	"layer Compute\n" \
	"	class compute\n" \
	"	table span\n" \
	"	category *compute* *COMPUTE*\n" \
	"layer 'Application I/O'\n" \
	"	class app_io\n" \
	"	table span\n" \
	"	category *reader* *data_loader* *dataloader* *checkpoint* *io* *IO*\n" \
	"layer Pipes\n" \
	"	table io\n" \
	"	category data stdio\n" \
	"	path pipe:*\n" \
	"layer 'POSIX data'\n" \
	"	class io\n" \
	"	table io\n" \
	"	category data map aio\n" \
	"layer 'POSIX open and close'\n" \
	"	class io\n" \
	"	table io\n" \
	"	category open\n" \
	"layer 'POSIX metadata'\n" \
	"	class io\n" \
	"	table io\n" \
	"	category meta dir sync\n" \
	"layer STDIO\n" \
	"	class io\n" \
	"	table io\n" \
	"	category stdio\n" \
	"layer Network\n" \
	"	table io\n" \
	"	category net\n" \
	"layer Processes\n" \
	"	table io\n" \
	"	category process\n" \
	"layer 'Other calls'\n" \
	"	table io\n"

#define DLIO \
	"layer App\n" \
	"	table span\n" \
	"	name DLIOBenchmark.run\n" \
	"layer Training\n" \
	"	table span\n" \
	"	name DLIOBenchmark._train\n" \
	"layer Compute\n" \
	"	class compute\n" \
	"	table span\n" \
	"	name *Framework.compute\n" \
	"layer 'Fetch Data'\n" \
	"	class app_io\n" \
	"	table span\n" \
	"	name loop.iter\n" \
	"layer 'Data Loader'\n" \
	"	class app_io\n" \
	"	table span\n" \
	"	category data_loader\n" \
	"	not-name loop.yield TorchDataLoader.__init__ TorchDataLoader.next TorchDataLoader.read " \
	"TorchDataLoader.finalize TorchDataset.__init__\n" \
	"layer 'Data Loader Fork'\n" \
	"	table io\n" \
	"	name fork vfork\n" \
	"layer Reader\n" \
	"	class app_io\n" \
	"	table span\n" \
	"	category reader\n" \
	"layer 'Reader POSIX (Lustre)'\n" \
	"	class io\n" \
	"	table io\n" \
	"	path */lustre*/data*\n" \
	"layer Checkpoint\n" \
	"	class app_io\n" \
	"	table span\n" \
	"	name *save_checkpoint\n" \
	"layer 'Checkpoint POSIX (Lustre)'\n" \
	"	class io\n" \
	"	table io\n" \
	"	path */lustre*/checkpoint*\n" \
	"layer 'Reader POSIX'\n" \
	"	class io\n" \
	"	table io\n" \
	"	path */data*\n" \
	"	not-path */lustre*\n" \
	"layer 'Checkpoint POSIX'\n" \
	"	class io\n" \
	"	table io\n" \
	"	path */checkpoint*\n" \
	"	not-path */lustre*\n" \
	"layer 'Other POSIX'\n" \
	"	table io\n" \
	"	no-path\n" \
	"	again\n"

const char *const rules_preset_texts[] = { POSIX, DLIO };
