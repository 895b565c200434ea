/*
 * Traces of every generation become rows, and what is wrong with a trace costs only itself.
 */
#include "traces.h"

#include "exchange/pfw-gzip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Generations. */

#define C_HEAD(id, name, cat) "{\"id\":" id ",\"name\":\"" name "\",\"cat\":\"" cat "\",\"pid\":13771,\"tid\":13771,"
#define C_HOST "\"hhash\":7386335834152862147"
#define C_META(id, kind, name, value) \
	C_HEAD(id, kind, "dftracer") "\"ph\":\"M\",\"args\":{" C_HOST ",\"name\":\"" name "\",\"value\":" value "}}\n"

static const char generation_c[] = "[\n" C_META("1", "HH", "vm", "7386335834152862147")
		C_META("2", "thread_name", "13771", "\"thread_name\"")
		C_META("3", "SH", "./triv;/data/run;3", "3894970322692194243")
		C_META("4", "SH", "triv", "6866143043091008734")
		C_HEAD("5", "start", "dftracer") "\"ts\":1794770953341889,\"dur\":0,\"ph\":\"X\",\"args\":{" C_HOST
		",\"p_idx\":-1,\"level\":1,\"ppid\":13759,\"date\":\"Sun Nov 15 19:29:13 2026\","
		"\"cmd_hash\":3894970322692194243,\"exec_hash\":6866143043091008734,\"version\":100008}}\n"
		C_META("6", "FH", "/data/run/f.bin", "8803298687463457177")
		C_HEAD("7", "open", "POSIX") "\"ts\":1794770953344013,\"dur\":239,\"ph\":\"X\",\"args\":{" C_HOST
		",\"p_idx\":-1,\"level\":1,\"ret\":4,\"flags\":578,\"mode\":420,\"fhash\":8803298687463457177}}\n"
		C_HEAD("8", "write", "POSIX") "\"ts\":1794770953344300,\"dur\":6093,\"ph\":\"X\",\"args\":{" C_HOST
		",\"level\":1,\"ret\":4096,\"p_idx\":-1,\"count\":4096,\"fd\":4,\"fhash\":8803298687463457177}}\n"
		C_HEAD("9", "CUSTOM_BLOCK", "C_APP") "\"ts\":1794770953345000,\"dur\":1062,\"ph\":\"X\",\"args\":{" C_HOST
		",\"p_idx\":8,\"level\":3}}\n"
		C_META("10", "CM", "key", "\"value\"")
		C_HEAD("12", "loop.iter", "COMPUTE") "\"ts\":1794770953345100,\"dur\":1,\"ph\":\"X\",\"args\":{" C_HOST
		",\"p_idx\":6,\"level\":2,\"step\":\"2\"}}\n"
		C_HEAD("13", "fork", "POSIX") "\"ts\":1794770953345200,\"dur\":165,\"ph\":\"X\",\"args\":{" C_HOST
		",\"p_idx\":-1,\"level\":1,\"ret\":882}}\n"
		C_HEAD("17", "fopen", "STDIO") "\"ts\":1794770953345400,\"dur\":7,\"ph\":\"X\",\"args\":{" C_HOST
		",\"p_idx\":-1,\"level\":1,\"mode\":\"w\",\"fhash\":8846937571042310279}}\n"
		C_HEAD("18", "fread", "STDIO") "\"ts\":1794770953345500,\"dur\":7,\"ph\":\"X\",\"args\":{" C_HOST
		",\"p_idx\":-1,\"level\":1,\"size\":8,\"count\":10,\"ret\":10,\"fhash\":8846937571042310279}}\n"
		C_HEAD("21", "end", "dftracer") "\"ts\":1794770953346000,\"dur\":0,\"ph\":\"X\",\"args\":{" C_HOST
		",\"p_idx\":-1,\"level\":1,\"num_events\":20}}\n]";

static void generation_c_becomes_rows(void **state)
{
	static const char *const io[] = {
		"io ts_ns=1794770953344013000 dur_ns=239000 process=13771 pid=13771 tid=13771 call='open' "
		"file='/data/run/f.bin'#8803298687463457177 ret=4 flags=0 id=7 parent=-1 depth=0 flags=578 mode=420",
		"io ts_ns=1794770953344300000 dur_ns=6093000 process=13771 pid=13771 tid=13771 call='write' "
		"file='/data/run/f.bin'#8803298687463457177 fd=4 ret=4096 size=4096 flags=0 id=8 parent=-1 depth=0",
		"io ts_ns=1794770953345200000 dur_ns=165000 process=13771 pid=13771 tid=13771 call='fork' ret=882 flags=0 "
		"id=13 parent=-1 depth=0",
		"io ts_ns=1794770953345400000 dur_ns=7000 process=13771 pid=13771 tid=13771 call='fopen' "
		"file=''#8846937571042310279 flags=0 text=w id=17 parent=-1 depth=0",
		"io ts_ns=1794770953345500000 dur_ns=7000 process=13771 pid=13771 tid=13771 call='fread' "
		"file=''#8846937571042310279 ret=10 size=80 flags=0 id=18 parent=-1 depth=0 count=10 size=8",
		NULL,
	};
	static const char *const spans[] = {
		"span ts_ns=1794770953341889000 dur_ns=0 process=13771 pid=13771 tid=13771 name='start' "
		"category='dftracer' depth=0 is_open=0 args={\"ppid\":13759,\"date\":\"Sun Nov 15 19:29:13 2026\","
		"\"cmd_hash\":3894970322692194243,\"exec_hash\":6866143043091008734,\"version\":100008} id=5 parent=-1",
		"span ts_ns=1794770953345000000 dur_ns=1062000 process=13771 pid=13771 tid=13771 name='CUSTOM_BLOCK' "
		"category='C_APP' depth=2 is_open=0 id=9 parent=8",
		"span ts_ns=1794770953345100000 dur_ns=1000 process=13771 pid=13771 tid=13771 name='loop.iter' "
		"category='COMPUTE' depth=1 is_open=0 args={\"step\":\"2\"} id=12 parent=6",
		"span ts_ns=1794770953346000000 dur_ns=0 process=13771 pid=13771 tid=13771 name='end' "
		"category='dftracer' depth=0 is_open=0 args={\"num_events\":20} id=21 parent=-1",
		NULL,
	};
	static const char *const processes[] = {
		"process process=13771 pid=13771 ppid=13759 start_ns=1794770953341889000 end_ns=1794770953350393000 "
		"exe='triv' argv=./triv|/data/run|3| events=9 state='ended'",
		NULL,
	};
	static const char *const threads[] = {
		"thread process=13771 pid=13771 tid=13771 start_ns=1794770953341889000 end_ns=1794770953350393000 "
		"name='13771' events=9",
		NULL,
	};
	static const char *const meta[] = {
		"meta process=13771 pid=13771 key='dftracer.generation' value=C",
		"meta process=13771 pid=13771 key='dftracer.hhash' value=7386335834152862147",
		"meta process=13771 pid=13771 key='host' value=vm",
		"meta process=13771 pid=13771 key='key' value=value",
		NULL,
	};
	struct traces t;

	(void)state;
	traces_make(&t);
	assert_int_equal(traces_import_text(&t, generation_c), 0);
	rows_are(&t, "io", io);
	rows_are(&t, "span", spans);
	rows_are(&t, "process", processes);
	rows_are(&t, "thread", threads);
	rows_are(&t, "meta", meta);
	assert_int_equal(t.result.counts.lines, 17);
	assert_int_equal(t.result.counts.events, 9);
	assert_int_equal(t.result.counts.calls, 5);
	assert_int_equal(t.result.counts.metadata, 6);
	assert_int_equal(t.result.counts.brackets, 2);
	assert_int_equal(t.result.counts.invalid, 0);
	assert_int_equal(t.result.processes, 1);
	assert_int_equal(t.result.named_files, 1);
	traces_remove(&t);
}

static void generation_a_has_numbers_in_quotes_and_names_in_place(void **state)
{
	static const char text[] = "[\n {\"id\":\"0\",\"name\":\"access\",\"cat\":\"POSIX\",\"pid\":\"2315\",\"tid\":\"4630\","
				   "\"ts\":\"1698975745976947\",\"dur\":\"2\",\"ph\":\"X\",\"args\":{\"hostname\":\"node-0\","
				   "\"fname\":\"testfile\"}}\n"
				   "{\"id\":\"2\",\"name\":\"lseek64\",\"cat\":\"POSIX\",\"pid\":\"2315\",\"tid\":\"4630\","
				   "\"ts\":\"1698975745977017\",\"dur\":\"1\",\"ph\":\"X\",\"args\":{\"hostname\":\"node-0\","
				   "\"ret\":\"0\",\"whence\":0,\"offset\":\"0\",\"fd\":15,\"fname\":\"testfile\"}}\n";
	static const char *const io[] = {
		"io ts_ns=1698975745976947000 dur_ns=2000 process=2315 pid=2315 tid=4630 call='access' file='testfile' "
		"flags=0 id=0",
		"io ts_ns=1698975745977017000 dur_ns=1000 process=2315 pid=2315 tid=4630 call='lseek64' file='testfile' "
		"fd=15 ret=0 offset=0 flags=0 id=2 whence=0",
		NULL,
	};
	static const char *const meta[] = {
		"meta process=2315 pid=2315 key='dftracer.generation' value=A",
		"meta process=2315 pid=2315 key='host' value=node-0",
		NULL,
	};
	struct traces t;

	(void)state;
	traces_make(&t);
	assert_int_equal(traces_import_text(&t, text), 0);
	rows_are(&t, "io", io);
	rows_are(&t, "meta", meta);
	traces_remove(&t);
}

/* Hashes of 16 bits collide: they are good for one process. Records of metadata have no host here. */
static void generation_b_has_short_hashes(void **state)
{
	static const char text[] =
			"[\n{\"id\":0,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":14,\"ph\":\"M\",\"args\":{\"name\":\"node\","
			"\"value\":39537}}\n"
			"{\"id\":1,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":14,\"ph\":\"M\",\"args\":{\"name\":\"/a\","
			"\"value\":12}}\n"
			"{\"id\":1,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":8,\"tid\":16,\"ph\":\"M\",\"args\":{\"name\":\"/b\","
			"\"value\":12}}\n"
			"{\"id\":2,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":14,\"ts\":1727286231145121,\"dur\":5,\"ph\":\"X\","
			"\"args\":{\"hhash\":39537,\"fhash\":12,\"level\":1}}\n"
			"{\"id\":2,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":8,\"tid\":16,\"ts\":1727286231145122,\"dur\":5,\"ph\":\"X\","
			"\"args\":{\"hhash\":39537,\"fhash\":12,\"level\":1}}\n]";
	static const char *const io[] = {
		"io ts_ns=1727286231145121000 dur_ns=5000 process=7 pid=7 tid=14 call='read' file='/a'#12 flags=0 id=2 depth=0",
		"io ts_ns=1727286231145122000 dur_ns=5000 process=8 pid=8 tid=16 call='read' file='/b'#12 flags=0 id=2 depth=0",
		NULL,
	};
	struct traces t;

	(void)state;
	traces_make(&t);
	assert_int_equal(traces_import_text(&t, text), 0);
	rows_are(&t, "io", io);
	assert_int_equal(t.result.processes, 2);
	assert_int_equal(t.result.conflicts, 0);
	traces_remove(&t);
}

static void generation_d_has_hexadecimal_hashes_and_counters(void **state)
{
	static const char text[] =
			"[\n{\"id\":1,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7353,\"tid\":7353,\"ph\":\"M\",\"args\":{"
			"\"hhash\":\"6882804a826580cd\",\"name\":\"/data/f\",\"value\":\"7b25938ba2e50a91\"}}\n"
			"{\"id\":9,\"name\":\"write\",\"cat\":\"POSIX\",\"pid\":7353,\"tid\":7353,\"ts\":1794771327421106,\"dur\":11,"
			"\"ph\":\"X\",\"args\":{\"hhash\":\"6882804a826580cd\",\"level\":1,\"ret\":4096,\"p_idx\":-1,\"count\":4096,"
			"\"fhash\":\"7b25938ba2e50a91\"}}\n"
			"{\"name\":\"write\",\"cat\":\"POSIX\",\"ts\":1794771327000000,\"ph\":\"C\",\"pid\":7353,\"tid\":7353,\"args\":{"
			"\"hhash\":\"6882804a826580cd\",\"fhash\":\"7b25938ba2e50a91\",\"dur_min\":3,\"dur_sum\":4.5}}\n]";
	static const char *const io[] = {
		"io ts_ns=1794771327421106000 dur_ns=11000 process=7353 pid=7353 tid=7353 call='write' "
		"file='/data/f'#8873660868746087057 ret=4096 size=4096 flags=0 id=9 parent=-1 depth=0",
		NULL,
	};
	static const char *const counters[] = {
		"counter ts_ns=1794771327000000000 process=7353 pid=7353 tid=7353 name='write.dur_min' value=3",
		"counter ts_ns=1794771327000000000 process=7353 pid=7353 tid=7353 name='write.dur_sum' value=4.5",
		NULL,
	};
	static const char *const lines[] = {
		"line process=7353 pid=7353 tid=7353 id=1 phase='M' name='FH' category='dftracer' args={\"hhash\":"
		"\"6882804a826580cd\",\"name\":\"/data/f\",\"value\":\"7b25938ba2e50a91\"}",
		"line ts_ns=1794771327000000000 process=7353 pid=7353 tid=7353 phase='C' name='write' category='POSIX' "
		"args={\"hhash\":\"6882804a826580cd\",\"fhash\":\"7b25938ba2e50a91\",\"dur_min\":3,\"dur_sum\":4.5}",
		NULL,
	};
	struct traces t;

	(void)state;
	traces_make(&t);
	assert_int_equal(traces_import_text(&t, text), 0);
	rows_are(&t, "io", io);
	rows_are(&t, "counter", counters);
	rows_are(&t, "line", lines);
	assert_int_equal(t.result.counts.counters, 1);
	traces_remove(&t);
}

static void generation_e_has_integer_phases_and_types(void **state)
{
	static const char text[] =
			"{\"name\":\"PR\",\"cat\":\"dftracer\",\"type\":1,\"pid\":30,\"tid\":60,\"ph\":4,\"args\":{\"name\":\"core_affinity\","
			"\"value\":[0,1,2]}}\n"
			"{\"id\":8,\"name\":\"CUSTOM_BLOCK\",\"cat\":\"CPP_APP\",\"type\":9,\"pid\":30,\"tid\":60,\"ts\":1727286231145121,"
			"\"dur\":1000054,\"ph\":1,\"args\":{\"hhash\":\"8e0caa2d595b2a4d\",\"key\":0}}\n"
			"{\"name\":\"cpu\",\"cat\":\"sys\",\"type\":7,\"ts\":1727286231145121,\"ph\":2,\"pid\":30,\"tid\":0,\"args\":{"
			"\"hhash\":\"8e0caa2d595b2a4d\",\"user_pct\":12.5}}\n"
			"{\"name\":\"openat\",\"cat\":\"POSIX\",\"type\":3,\"ts\":1785087679000000,\"ph\":3,\"pid\":30,\"tid\":60,\"args\":{"
			"\"hhash\":\"8e0caa2d595b2a4d\",\"dft_cnt\":2}}\n"
			"{\"id\":10,\"name\":\"end\",\"cat\":\"dftracer\",\"type\":1,\"pid\":30,\"tid\":60,\"ts\":1785089433770414,"
			"\"dur\":0,\"ph\":1,\"args\":{\"hhash\":\"8e0caa2d595b2a4d\",\"num_events\":9,\"cfg\":{\"time_metric\":\"US\"},"
			"\"relations\":{\"used\":[1]}}}\n";
	static const char *const spans[] = {
		"span ts_ns=1727286231145121000 dur_ns=1000054000 process=30 pid=30 tid=60 name='CUSTOM_BLOCK' "
		"category='CPP_APP' is_open=0 args={\"key\":0} id=8 extra={\"type\":9}",
		"span ts_ns=1785089433770414000 dur_ns=0 process=30 pid=30 tid=60 name='end' category='dftracer' is_open=0 "
		"args={\"num_events\":9,\"cfg\":{\"time_metric\":\"US\"},\"relations\":{\"used\":[1]}} id=10 "
		"extra={\"type\":1}",
		NULL,
	};
	static const char *const lines[] = {
		"line process=30 pid=30 tid=60 phase='M' name='PR' category='dftracer' args={\"name\":\"core_affinity\","
		"\"value\":[0,1,2]} extra={\"type\":1}",
		"line ts_ns=1727286231145121000 process=30 pid=30 tid=0 phase='C' name='cpu' category='sys' "
		"args={\"hhash\":\"8e0caa2d595b2a4d\",\"user_pct\":12.5} extra={\"type\":7}",
		"line ts_ns=1785087679000000000 process=30 pid=30 tid=60 phase='A' name='openat' category='POSIX' "
		"args={\"hhash\":\"8e0caa2d595b2a4d\",\"dft_cnt\":2} extra={\"type\":3}",
		NULL,
	};
	static const char *const meta[] = {
		"meta process=30 pid=30 key='core_affinity' value=[0,1,2]",
		"meta process=30 pid=30 key='dftracer.generation' value=E",
		"meta process=30 pid=30 key='dftracer.hhash' value=0x8e0caa2d595b2a4d",
		NULL,
	};
	struct traces t;

	(void)state;
	traces_make(&t);
	assert_int_equal(traces_import_text(&t, text), 0);
	rows_are(&t, "span", spans);
	rows_are(&t, "line", lines);
	rows_are(&t, "meta", meta);
	traces_remove(&t);
}

/* A trace without arguments: what has no host stays without, and the run knows it all the same. */
static void events_without_arguments_are_of_the_host_of_their_file(void **state)
{
	static const char text[] = "[\n" C_META("1", "HH", "vm", "7386335834152862147")
			C_HEAD("2", "read", "POSIX") "\"ts\":100,\"dur\":5,\"ph\":\"X\"}\n";
	static const char *const io[] = {
		"io ts_ns=100000 dur_ns=5000 process=13771 pid=13771 tid=13771 call='read' flags=0 id=2 "
		"extra={\"hhash\":null}",
		NULL,
	};
	struct traces t;

	(void)state;
	traces_make(&t);
	assert_int_equal(traces_import_text(&t, text), 0);
	rows_are(&t, "io", io);
	assert_int_equal(t.result.processes, 1);
	traces_remove(&t);
}

static void times_are_in_the_unit_of_the_trace(void **state)
{
	static const char us[] = "{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1794771327421106,\"dur\":2.5}\n";
	static const char ns[] = "{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1794771327421106123,\"dur\":7}\n";
	struct traces t;

	(void)state;
	traces_make(&t);
	assert_int_equal(traces_import_text(&t, us), 0);
	rows_are(&t, "span", (const char *const[]){
		"span ts_ns=1794771327421106000 dur_ns=2500 process=1 pid=1 tid=1 name='a' is_open=0", NULL });
	assert_int_equal(traces_import_text(&t, ns), 0);
	rows_are(&t, "span", (const char *const[]){
		"span ts_ns=1794771327421106123 dur_ns=7 process=1 pid=1 tid=1 name='a' is_open=0", NULL });
	t.options.unit = IMPORT_UNIT_MS;
	assert_int_equal(traces_import_text(&t, "{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":12,\"dur\":7}\n"), 0);
	rows_are(&t, "span", (const char *const[]){
		"span ts_ns=12000000 dur_ns=7000000 process=1 pid=1 tid=1 name='a' is_open=0", NULL });
	traces_remove(&t);
}

/* What does not fit its column is kept as text. */
static void odd_values_are_kept(void **state)
{
	static const char text[] =
			"{\"id\":1,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":-5,\"ph\":\"X\",\"args\":{"
			"\"offset\":9223372036854775808,\"ret\":-1,\"level\":0,\"fhash\":\"nothash\",\"deep\":{\"a\":[1,2]}}}\n"
			"{\"id\":1,\"id\":2,\"name\":\"\",\"cat\":\"a\\u0001\\ud83d\\ude00b\",\"pid\":1,\"tid\":2,\"ts\":11,\"dur\":1,"
			"\"ph\":\"X\",\"args\":{\"t\":\"x\ty\xff\"},\"more\":true}\n"
			"{\"name\":\"no time\",\"ph\":\"X\",\"pid\":1}\n"
			"{\"name\":\"far\",\"ph\":\"X\",\"pid\":1,\"ts\":99999999999999999}\n"
			"{\"ph\":\"i\",\"name\":\"instant\",\"ts\":5}\n{\"what\":[\"is\",\"this\"]}\n";
	static const char *const io[] = {
		"io ts_ns=10000 process=1 pid=1 tid=2 call='pread' ret=-1 flags=0 id=1 args={\"offset\":9223372036854775808,"
		"\"level\":0,\"fhash\":\"nothash\",\"deep\":{\"a\":[1,2]}} extra={\"dur\":-5}",
		NULL,
	};
	static const char *const spans[] = {
		"span ts_ns=11000 dur_ns=1000 process=1 pid=1 tid=2 name='' category='a\x01\xf0\x9f\x98\x80"
		"b' is_open=0 args={\"t\":\"x\\u0009y\\udcff\"} id=1 extra={\"id\":2,\"more\":true}",
		NULL,
	};
	struct rows got;
	struct traces t;

	(void)state;
	traces_make(&t);
	t.options.unit = IMPORT_UNIT_US;
	assert_int_equal(traces_import_text(&t, text), 0);
	rows_are(&t, "io", io);
	rows_are(&t, "span", spans);
	rows_read(&got, t.run, "line");
	assert_int_equal(got.count, 4);
	rows_release(&got);
	assert_int_equal(t.result.counts.other, 4);
	assert_int_equal(t.result.counts.odd_durations, 1);
	traces_remove(&t);
}

/* Damage. */

static void invalid_lines_are_counted_and_shown_with_their_place(void **state)
{
	struct buf text = BUF_INIT;
	struct traces t;

	(void)state;
	traces_make(&t);
	for (int i = 0; i < 20000; i++) {
		if (i == 4 || i == 17000)
			buf_adds(&text, "{\"id\":1,\"name\":\"a\"b\"}\n");
		else if (i == 17001)
			buf_adds(&text, "\n");
		else
			buf_addf(&text, "{\"id\":%d,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"ph\":\"X\"}\n",
					i, i);
	}
	buf_adds(&text, "{\"id\":1,\"na");
	traces_write("a.pfw", text.data, text.len);
	assert_int_equal(traces_import(&t, "a.pfw"), 0);
	assert_int_equal(t.result.counts.invalid, 3);
	assert_int_equal(t.result.counts.events, 19997);
	assert_int_equal(t.result.problem_count, 3);
	assert_string_equal(t.result.problems[0].path, "a.pfw");
	assert_int_equal(t.result.problems[0].line, 5);
	assert_int_equal(t.result.problems[1].line, 17001);
	assert_int_equal(t.result.problems[2].line, 20001);
	assert_non_null(strstr(t.result.problems[0].text, "comma or brace"));
	assert_non_null(strstr(t.result.problems[0].text, "{\"id\":1,\"name\":\"a\"b\"}"));
	buf_release(&text);
	traces_remove(&t);
}

static void rows_of(struct traces *t, const char *path, struct rows *rows)
{
	assert_int_equal(traces_import(t, path), 0);
	rows_read(rows, t->run, NULL);
}

/* Members that end in the middle of lines, some of them in none: the same rows as from the text. */
static void lines_may_cross_members(void **state)
{
	struct buf text = BUF_INIT, packed = BUF_INIT;
	struct rows whole, sewn;
	struct traces t;

	(void)state;
	random_init();
	traces_make(&t);
	for (int i = 0; i < 3000; i++)
		buf_addf(&text, "{\"id\":%d,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"ph\":\"X\","
				"\"args\":{\"noise\":\"%016llx%016llx%016llx\"}}\n",
				i, i, (unsigned long long)random_u64(), (unsigned long long)random_u64(),
				(unsigned long long)random_u64());
	buf_adds(&text, "not a record\n");
	traces_write("a.pfw", text.data, text.len);
	rows_of(&t, "a.pfw", &whole);
	assert_int_equal(t.result.problems[0].line, 3001);
	for (int round = 0; round < 6; round++) {
		size_t most = round < 3 ? 40 : 60000;

		buf_reset(&packed);
		for (size_t at = 0, n; at < text.len; at += n) {
			n = 1 + random_below(most);
			n = n > text.len - at ? text.len - at : n;
			pfw_gzip_deflate(&packed, text.data + at, n);
		}
		traces_write("a.pfw.gz", packed.data, packed.len);
		t.options.threads = 1 + (unsigned)round % 3;
		rows_of(&t, "a.pfw.gz", &sewn);
		assert_int_equal(t.result.counts.invalid, 1);
		assert_int_equal(t.result.problem_count, 1);
		assert_int_equal(t.result.problems[0].line, 3001);
		rows_same(&whole, &sewn);
		rows_release(&sewn);
	}
	rows_release(&whole);
	buf_release(&text);
	buf_release(&packed);
	traces_remove(&t);
}

/* A member that holds, stored, what looks like another: cutting there was wrong, and all is read again. */
static void what_looks_like_a_member_is_none(void **state)
{
	struct buf inner = BUF_INIT, text = BUF_INIT, packed = BUF_INIT;
	struct traces t;

	(void)state;
	random_init();
	traces_make(&t);
	for (int i = 0; i < 3000; i++)
		buf_addf(&text, "{\"id\":%d,\"name\":\"%016llx%016llx%016llx\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"ph\":\"X\"}\n", i,
				(unsigned long long)random_u64(), (unsigned long long)random_u64(),
				(unsigned long long)random_u64(), i);
	pfw_gzip_deflate(&inner, text.data, text.len);
	/* 2 MiB of stored blocks, by hand: noise, a whole gzip file inside, a newline. */
	buf_add(&packed, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
	for (int i = 0; i < 40; i++) {
		unsigned char head[5] = { i == 39, 0xff, 0xff, 0, 0 };
		char *block = malloc(65535);

		random_bytes(block, 65535);
		for (size_t k = 0; k < 65535; k++)
			block[k] = block[k] == '\n' || block[k] == '\x1f' ? 'x' : block[k];
		if (i == 10)
			memcpy(block + 100, inner.data, inner.len < 65000 ? inner.len : 65000);
		buf_add(&packed, head, 5);
		buf_add(&packed, block, 65535);
		free(block);
	}
	buf_add(&packed, "12345678", 8);
	traces_write("a.pfw.gz", packed.data, packed.len);
	/* No record can be found: the checksum is wrong too, and there is no line. */
	assert_int_equal(traces_import(&t, "a.pfw.gz"), -ENODATA);
	assert_int_equal(access(t.run, F_OK), -1);
	buf_release(&inner);
	buf_release(&text);
	buf_release(&packed);
	traces_remove(&t);
}

static void a_damaged_member_costs_only_itself(void **state)
{
	struct buf text = BUF_INIT, packed = BUF_INIT;
	size_t starts[6];
	struct traces t;

	(void)state;
	random_init();
	traces_make(&t);
	for (int m = 0; m < 6; m++) {
		buf_reset(&text);
		for (int i = 0; i < 6000; i++)
			buf_addf(&text, "{\"id\":%d,\"name\":\"%016llx%016llx%016llx\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"ph\":\"X\"}\n",
					i, (unsigned long long)random_u64(), (unsigned long long)random_u64(),
					(unsigned long long)random_u64(), i);
		starts[m] = packed.len;
		pfw_gzip_deflate(&packed, text.data, text.len);
	}
	memset(packed.data + starts[3] + 30000, 0, 2000);
	traces_write("a.pfw.gz", packed.data, packed.len - 100);
	t.options.threads = 2;
	assert_int_equal(traces_import(&t, "a.pfw.gz"), 0);
	assert_true(t.result.counts.events > 4 * 6000 && t.result.counts.events < 6 * 6000);
	assert_int_equal(t.result.bad_files, 1);
	assert_int_equal(t.result.problems[0].line, 0);
	assert_non_null(strstr(t.result.problems[0].text, "damaged"));
	buf_release(&text);
	buf_release(&packed);
	traces_remove(&t);
}

/* Hostile input. */

static uint64_t memory_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss << 10;
}

static const char event[] = "{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1,\"ph\":\"X\"}\n";

static void long_lines_are_read_or_passed_over(void **state)
{
	static const size_t sizes[] = { 200 << 10, 10 << 20, 100 << 20 };
	struct traces t;

	(void)state;
	traces_make(&t);
	for (size_t i = 0; i < 3; i++) {
		FILE *out = fopen("a.pfw", "w");
		struct rows got;

		fputs(event, out);
		fputs("{\"id\":2,\"name\":\"long\",\"pid\":1,\"tid\":1,\"ts\":7,\"dur\":1,\"ph\":\"X\",\"args\":{\"a\":\"", out);
		for (size_t k = 0; k < sizes[i]; k++)
			putc('a' + (int)(k % 26), out);
		fputs("\"}}\n", out);
		fputs(event, out);
		fclose(out);
		assert_int_equal(traces_import(&t, "a.pfw"), 0);
		assert_int_equal(t.result.counts.events, i < 2 ? 3 : 2);
		assert_int_equal(t.result.counts.too_long, i == 2);
		rows_read(&got, t.run, "span");
		assert_int_equal(got.count, i < 2);
		if (i < 2)
			assert_true(strlen(got.items[0]) > sizes[i]);
		else
			assert_int_equal(t.result.problems[0].line, 2);
		rows_release(&got);
	}
	assert_true(memory_bytes() < (uint64_t)1 << 30);
	traces_remove(&t);
}

/* A few hundred kilobytes that become more than a gigabyte: one line of spaces, blank lines, zeros. */
static void gzip_bombs_cost_time_and_no_memory(void **state)
{
	static const char fillings[] = { ' ', '\n', '\0' };
	static const int members[] = { 65, 8, 8 };
	size_t n = (size_t)16 << 20;
	char *block = malloc(n);
	struct traces t;

	(void)state;
	traces_make(&t);
	for (size_t i = 0; i < sizeof(fillings); i++) {
		struct buf packed = BUF_INIT;

		memset(block, fillings[i], n);
		pfw_gzip_deflate(&packed, event, strlen(event));
		for (int k = 0; k < members[i]; k++)
			pfw_gzip_deflate(&packed, block, n);
		pfw_gzip_deflate(&packed, "\n", 1);
		pfw_gzip_deflate(&packed, event, strlen(event));
		traces_write("bomb.pfw.gz", packed.data, packed.len);
		t.options.threads = 2;
		assert_int_equal(traces_import(&t, "bomb.pfw.gz"), 0);
		assert_int_equal(t.result.counts.events, 2);
		assert_int_equal(t.result.counts.too_long, fillings[i] != '\n');
		assert_true(t.result.text_bytes > (uint64_t)members[i] * n);
		buf_release(&packed);
	}
	assert_true(memory_bytes() < (uint64_t)1 << 30);
	free(block);
	traces_remove(&t);
}

static void empty_and_missing_files_are_explained(void **state)
{
	struct traces t;

	(void)state;
	traces_make(&t);
	assert_int_equal(mkdir("d", 0700), 0);
	assert_int_equal(traces_import(&t, "nothing.pfw"), -ENOENT);
	assert_non_null(strstr(t.err.text, "nothing.pfw"));
	assert_int_equal(traces_import(&t, "d"), -ENOENT);
	traces_write("d/a.pfw", "", 0);
	traces_write("d/b.txt", event, strlen(event));
	assert_int_equal(traces_import(&t, "d"), -ENODATA);
	assert_int_equal(access(t.run, F_OK), -1);
	traces_write("d/b.pfw", event, strlen(event));
	traces_write("d/c.pfw.gz", "", 0);
	traces_write("d/d.pfw", "[\n]", 3);
	assert_int_equal(traces_import(&t, "d"), 0);
	assert_int_equal(t.result.files, 4);
	assert_int_equal(t.result.bad_files, 2);
	assert_int_equal(t.result.counts.events, 1);
	assert_string_equal(t.result.problems[0].text, "it is empty");
	traces_remove(&t);
}

/* Names without end: what finds no room is missing from rows, and counted. Costly, so with few. */
static void many_files_at_once_are_one_run(void **state)
{
	struct traces t;
	char path[32], text[256];

	(void)state;
	traces_make(&t);
	assert_int_equal(mkdir("d", 0700), 0);
	assert_int_equal(mkdir("d/e", 0700), 0);
	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), i % 2 ? "d/t%d.pfw" : "d/e/t%d.pfw.gz", i);
		snprintf(text, sizeof(text), "[\n{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":%d,\"tid\":1,\"ts\":%d,\"dur\":1,\"ph\":\"X\"}\n]",
				i % 50, i);
		if (i % 2)
			traces_write(path, text, strlen(text));
		else
			traces_gzip(path, (const char *const[]){ text, NULL });
	}
	t.options.threads = 4;
	assert_int_equal(traces_import(&t, "d"), 0);
	assert_int_equal(t.result.files, 300);
	assert_int_equal(t.result.counts.events, 300);
	assert_int_equal(t.result.processes, 50);
	assert_int_equal(t.result.first_ns, 0);
	assert_int_equal(t.result.last_ns, 300000);
	traces_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generation_c_becomes_rows),
		cmocka_unit_test(generation_a_has_numbers_in_quotes_and_names_in_place),
		cmocka_unit_test(generation_b_has_short_hashes),
		cmocka_unit_test(generation_d_has_hexadecimal_hashes_and_counters),
		cmocka_unit_test(generation_e_has_integer_phases_and_types),
		cmocka_unit_test(events_without_arguments_are_of_the_host_of_their_file),
		cmocka_unit_test(times_are_in_the_unit_of_the_trace),
		cmocka_unit_test(odd_values_are_kept),
		cmocka_unit_test(invalid_lines_are_counted_and_shown_with_their_place),
		cmocka_unit_test(lines_may_cross_members),
		cmocka_unit_test(what_looks_like_a_member_is_none),
		cmocka_unit_test(a_damaged_member_costs_only_itself),
		cmocka_unit_test(long_lines_are_read_or_passed_over),
		cmocka_unit_test(gzip_bombs_cost_time_and_no_memory),
		cmocka_unit_test(empty_and_missing_files_are_explained),
		cmocka_unit_test(many_files_at_once_are_one_run),
	};

	return RUN_TESTS(tests);
}
