/*
 * Traces of every generation become rows: tests/data/generation-X.pfw are what the tracers wrote.
 */
#include "traces.h"

static void import_data(struct traces *t, const char *name)
{
	struct buf text = BUF_INIT;

	traces_read_data(name, &text);
	assert_int_equal(traces_import_text(t, text.data), 0);
	buf_release(&text);
}

static void generation_c_becomes_rows(void **state)
{
	static const char *const io[] = {
		"io ts_ns=1794770953344013000 dur_ns=239000 process=13771 pid=13771 tid=13771 call='open' "
		"file='/data/run/f.bin'#8803298687463457177 ret=4 flags=0 id=7 parent=-1 depth=0 flags=578 mode=420",
		"io ts_ns=1794770953344300000 dur_ns=6093000 process=13771 pid=13771 tid=13771 call='write' "
		"file='/data/run/f.bin'#8803298687463457177 fd=4 ret=4096 size=4096 flags=0 id=8 parent=-1 depth=0",
		"io ts_ns=1794770953345200000 dur_ns=165000 process=13771 pid=13771 tid=13771 call='fork' ret=882 "
		"flags=0 "
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
	import_data(&t, "generation-c.pfw");
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
	static const char *const io[] = {
		"io ts_ns=1698975745976947000 dur_ns=2000 process=2315 pid=2315 tid=4630 call='access' file='testfile' "
		"flags=0 id=0",
		"io ts_ns=1698975745977017000 dur_ns=1000 process=2315 pid=2315 tid=4630 call='lseek64' "
		"file='a b/\xc3\xa9' fd=15 ret=0 offset=0 flags=0 id=2 whence=0",
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
	import_data(&t, "generation-a.pfw");
	rows_are(&t, "io", io);
	rows_are(&t, "meta", meta);
	traces_remove(&t);
}

/* Hashes of 16 bits collide: they are good for one process. Records of metadata have no host here. */
static void generation_b_has_short_hashes(void **state)
{
	static const char *const io[] = {
		"io ts_ns=1727286231145121000 dur_ns=5000 process=7 pid=7 tid=14 call='read' file='/a'#12 flags=0 "
		"id=2 depth=0",
		"io ts_ns=1727286231145122000 dur_ns=5000 process=8 pid=8 tid=16 call='read' file='/b'#12 flags=0 "
		"id=2 depth=0",
		NULL,
	};
	struct traces t;

	(void)state;
	traces_make(&t);
	import_data(&t, "generation-b.pfw");
	rows_are(&t, "io", io);
	assert_int_equal(t.result.processes, 2);
	assert_int_equal(t.result.conflicts, 0);
	traces_remove(&t);
}

static void generation_d_has_hexadecimal_hashes_and_counters(void **state)
{
	static const char *const io[] = {
		"io ts_ns=1794771327421106000 dur_ns=11000 process=7353 pid=7353 tid=7353 call='write' "
		"file='/data/f'#8873660868746087057 ret=4096 size=4096 flags=0 id=9 parent=-1 depth=0",
		"io ts_ns=1794771327421206000 dur_ns=11000 process=7353 pid=7353 tid=7353 call='rename' "
		"file='/data/f'#8873660868746087057 file2=''#803210336498158225 flags=0 id=10 "
		"args={\"newpath_hash\":\"0b25938ba2e50a91\"}",
		NULL,
	};
	static const char *const counters[] = {
		"counter ts_ns=1794771327000000000 process=7353 pid=7353 tid=7353 name='write.dur_min' value=3",
		"counter ts_ns=1794771327000000000 process=7353 pid=7353 tid=7353 name='write.dur_sum' value=4.5",
		NULL,
	};
	static const char *const lines[] = {
		"line process=7353 pid=7353 tid=7353 id=1 phase='M' name='HH' category='dftracer' args={\"hhash\":"
		"\"6882804a826580cd\",\"name\":\"vm\",\"value\":\"6882804a826580cd\"}",
		"line process=7353 pid=7353 tid=7353 id=2 phase='M' name='FH' category='dftracer' args={\"hhash\":"
		"\"6882804a826580cd\",\"name\":\"/data/f\",\"value\":\"7b25938ba2e50a91\"}",
		"line ts_ns=1794771327000000000 process=7353 pid=7353 tid=7353 phase='C' name='write' category='POSIX' "
		"args={\"hhash\":\"6882804a826580cd\",\"dur_min\":3,\"dur_sum\":4.5}",
		NULL,
	};
	struct traces t;

	(void)state;
	traces_make(&t);
	import_data(&t, "generation-d.pfw");
	rows_are(&t, "io", io);
	rows_are(&t, "counter", counters);
	rows_are(&t, "line", lines);
	assert_int_equal(t.result.counts.counters, 1);
	traces_remove(&t);
}

static void generation_e_has_integer_phases_and_types(void **state)
{
	static const char *const spans[] = {
		"span ts_ns=1727286231145121000 dur_ns=1000054000 process=30 pid=30 tid=60 name='CUSTOM_BLOCK' "
		"category='CPP_APP' is_open=0 args={\"key\":0} id=8 extra={\"type\":9}",
		"span ts_ns=1785089433770414000 dur_ns=0 process=30 pid=30 tid=60 name='end' category='dftracer' "
		"is_open=0 "
		"args={\"num_events\":9,\"cfg\":{\"time_metric\":\"US\"},\"args\":{\"a\":1},"
		"\"relations\":{\"used\":[1]}} id=10 "
		"extra={\"type\":1}",
		NULL,
	};
	static const char *const lines[] = {
		"line process=30 pid=30 tid=60 phase='M' name='PR' category='dftracer' "
		"args={\"hhash\":\"8e0caa2d595b2a4d\",\"name\":\"core_affinity\","
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
	import_data(&t, "generation-e.pfw");
	rows_are(&t, "span", spans);
	rows_are(&t, "line", lines);
	rows_are(&t, "meta", meta);
	traces_remove(&t);
}

/* A trace without arguments: what has no host stays without, and the run knows it all the same. */
static void events_without_arguments_are_of_the_host_of_their_file(void **state)
{
	static const char text[] =
			"[\n{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":13771,\"tid\":13771,\"ph\":\"M\","
			"\"args\":{"
			"\"hhash\":7386335834152862147,\"name\":\"vm\",\"value\":7386335834152862147}}\n"
			"{\"id\":2,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":13771,\"tid\":13771,\"ts\":100,"
			"\"dur\":5,"
			"\"ph\":\"X\"}\n";
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
	static const char us[] =
			"{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1794771327421106,\"dur\":2.5}\n";
	static const char ns[] =
			"{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1794771327421106123,\"dur\":7}\n";
	struct traces t;

	(void)state;
	traces_make(&t);
	assert_int_equal(traces_import_text(&t, us), 0);
	rows_are(&t, "span",
			(const char *const[]){
					"span ts_ns=1794771327421106000 dur_ns=2500 process=1 pid=1 tid=1 name='a' "
					"is_open=0",
					NULL });
	assert_int_equal(traces_import_text(&t, ns), 0);
	rows_are(&t, "span",
			(const char *const[]){ "span ts_ns=1794771327421106123 dur_ns=7 process=1 pid=1 tid=1 name='a' "
					       "is_open=0",
					NULL });
	t.options.unit = IMPORT_UNIT_MS;
	assert_int_equal(traces_import_text(&t,
					 "{\"name\":\"a\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":12,\"dur\":7}\n"),
			0);
	rows_are(&t, "span",
			(const char *const[]){
					"span ts_ns=12000000 dur_ns=7000000 process=1 pid=1 tid=1 name='a' is_open=0",
					NULL });
	traces_remove(&t);
}

/* What does not fit its column is kept as text. */
static void odd_values_are_kept(void **state)
{
	static const char text[] =
			"{\"id\":1,\"name\":\"pread\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":-5,"
			"\"ph\":\"X\",\"args\":{"
			"\"offset\":9223372036854775808,\"ret\":-1,\"level\":0,\"fhash\":\"nothash\","
			"\"deep\":{\"a\":[1,2]}}}\n"
			"{\"id\":1,\"id\":2,\"name\":\"\",\"cat\":\"a\\u0001\\ud83d\\ude00b\",\"pid\":1,\"tid\":2,"
			"\"ts\":11,\"dur\":1,"
			"\"ph\":\"X\",\"args\":{\"t\":\"x\ty\xff\"},\"more\":true}\n"
			"{\"name\":\"no time\",\"ph\":\"X\",\"pid\":1}\n"
			"{\"name\":\"far\",\"ph\":\"X\",\"pid\":1,\"ts\":99999999999999999}\n"
			"{\"ph\":\"i\",\"name\":\"instant\",\"ts\":5}\n{\"what\":[\"is\",\"this\"]}\n";
	static const char *const io[] = {
		"io ts_ns=10000 process=1 pid=1 tid=2 call='pread' ret=-1 flags=0 id=1 "
		"args={\"offset\":9223372036854775808,"
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
	};

	return RUN_TESTS(tests);
}
