/* Calls on files and sockets, traffic between hosts: sums by call, file, directory, process and time. */
#include "truth.h"

#include <stdio.h>

#define OPTS(...) (&(struct analyze_opts){ .threads = 1, .part = { 0, 1 }, __VA_ARGS__ })

static void add_files(struct truth *t)
{
	bundle_file(&t->bundle, 1, STORE_NULL, "/data/a");
	bundle_file(&t->bundle, 2, STORE_NULL, "/data/b");
	bundle_file(&t->bundle, 3, STORE_NULL, "/c");
	bundle_file(&t->bundle, 4, STORE_NULL, "10.0.0.1:80");
	truth_row(t, "process", "process pid exe", "1 10 /bin/one");
	truth_row(t, "process", "process pid exe", "2 20 /bin/two");
}

static void at_offset(struct truth *t, const char *call, int64_t at_ns, int file, int64_t ret, int64_t offset)
{
	truth_row(t, "io", "ts_ns dur_ns process pid tid call file ret errnum size offset",
			"%lld 10 1 10 10 %s %d %lld 0 %lld %lld", (long long)(T0 + at_ns), call, file, (long long)ret,
			(long long)ret, (long long)offset);
}

static void calls_are_summed(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	add_files(&t);
	truth_call(&t, "open", 0, 7, 1, 3);
	truth_call(&t, "read", 100, 30, 1, 4096);
	truth_call(&t, "read", 200, 50, 1, 4095);
	truth_call(&t, "read", 500 * MS, 10, 2, 10000);
	truth_call(&t, "write", 600 * MS, 5, 3, 300);
	truth_call(&t, "write", 700 * MS, 15, 0, 0);
	truth_call(&t, "stat", 710 * MS, 2, 2, 0);
	truth_row(&t, "io", "ts_ns dur_ns process pid tid call file ret errnum size", "%lld 40 2 20 20 read 1 -1 5 100",
			T0 + 800 * MS);
	truth_row(&t, "io", "ts_ns dur_ns process pid tid call file file2 ret errnum size",
			"%lld 60 2 20 20 copy_file_range 1 3 1000 0 1000", T0 + 900 * MS);
	truth_call(&t, "recv", 950 * MS, 70, 4, 99);
	truth_call(&t, "send", 951 * MS, 20, 4, 55);
	truth_call(&t, "accept", 952 * MS, 4, 4, 7);
	truth_analyze(&t, NULL);
	truth_expect(&t, "io",
			"calls 9\n"
			"total_ns 219\n"
			"read_bytes 19191\n"
			"write_bytes 1300\n"
			"files 3\n"
			"errors 1\n"
			"reads 4\n"
			"writes 2\n"
			"copies 1\n"
			"opens 1\n"
			"stats 1\n"
			"small 3\n"
			"by_call:\n"
			"read data 4 1 130 30 40 50 18191 3 4095 4095 6063.67 4112 4112 10000\n"
			"recv net 1 0 70 70 70 70 99 1 99 99 99 99 99 99\n"
			"copy_file_range data 1 0 60 60 60 60 1000 1 1000 1000 1000 1000 1000 1000\n"
			"write data 2 0 20 5 5 15 300 1 300 300 300 300 300 300\n"
			"send net 1 0 20 20 20 20 55 1 55 55 55 55 55 55\n"
			"open open 1 0 7 7 7 7 0 0 - - - - - -\n"
			"accept net 1 0 4 4 4 4 0 0 - - - - - -\n"
			"stat meta 1 0 2 2 2 2 0 0 - - - - - -\n"
			"by_file:\n"
			"5 1 187 9191 3 0 1 0 2 9191 0 - - /data/a\n"
			"2 0 12 10000 1 0 0 1 0 10000 0 - - /data/b\n"
			"2 0 5 1300 0 1 0 0 1 0 1300 - - /c\n"
			"by_directory:\n"
			"7 1 199 19191 4 0 1 1 2 19191 0 - 2 /data\n"
			"2 0 5 1300 0 1 0 0 1 0 1300 - 1 /\n"
			"by_process:\n"
			"1 10 7 119 18191 300 /bin/one\n"
			"2 20 2 100 1000 1000 /bin/two\n"
			"patterns:\n"
			"by_time:\n"
			"0 3 87 8191 0\n"
			"483333343 1 10 10000 0\n"
			"583333345 1 5 0 300\n"
			"683333347 1 15 0 0\n"
			"700000014 1 2 0 0\n"
			"783333349 1 40 0 0\n"
			"883333351 1 60 1000 1000\n"
			"933333352 0 0 0 0\n"
			"950000019 0 0 0 0\n");
	truth_expect(&t, "network",
			"calls 3\n"
			"total_ns 94\n"
			"sent_bytes 55\n"
			"received_bytes 99\n"
			"note packets were not recorded (record --net); traffic by host is unknown\n"
			"by_socket:\n"
			"3 94 154 10.0.0.1:80\n");
	truth_field(&t, "overview", "start_ns", T0);
	truth_field(&t, "overview", "wall_ns", 1 * S);
	truth_field(&t, "overview", "processes", 2);
	truth_field(&t, "overview", "threads", 0);
	truth_field(&t, "overview", "events", 12);
	truth_analyze(&t, OPTS(.top = 1));
	truth_table(&t, "io", "by_call",
			"read data 4 1 130 30 40 50 18191 3 4095 4095 6063.67 4112 4112 10000\n"
			"of 8\n");
	truth_table(&t, "io", "by_process",
			"1 10 7 119 18191 300 /bin/one\n"
			"of 2\n");
	truth_end(&t);
}

/* A row counts where it starts. */
static void ranges_are_half_open(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	add_files(&t);
	truth_call(&t, "read", 100, 10, 1, 1);
	truth_call(&t, "read", 200, 10, 1, 20);
	truth_call(&t, "read", 300, 10, 1, 300);
	truth_call(&t, "read", 400, 10, 1, 4000);
	truth_analyze(&t, OPTS(.has_range = true, .from_ns = T0 + 200, .to_ns = T0 + 400));
	truth_field(&t, "io", "read_bytes", 320);
	truth_field(&t, "io", "calls", 2);
	truth_field(&t, "overview", "wall_ns", 200);
	truth_field(&t, "overview", "start_ns", T0 + 200);
	truth_field(&t, "overview", "roi_since_ns", 200);
	truth_end(&t);
}

/*
 * The rule of doc/format.md: a read of 200 ms of which the last 100 ms lie in the window, and one of 300 ms inside it,
 * are one read, 400 ms, and a median of 300 ms. A call that lies around the window has its time and no count.
 */
static void windows_count_starts_and_clip_time(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	add_files(&t);
	truth_call(&t, "read", 100 * MS, 200 * MS, 1, 1000);
	truth_call(&t, "read", 300 * MS, 300 * MS, 1, 20);
	truth_call(&t, "write", 650 * MS, 100 * MS, 2, 3);
	truth_call(&t, "stat", 0, 900 * MS, 3, 0);
	truth_analyze(&t, OPTS(.has_range = true, .from_ns = T0 + 200 * MS, .to_ns = T0 + 700 * MS));
	truth_field(&t, "io", "calls", 2);
	truth_field(&t, "io", "reads", 1);
	truth_field(&t, "io", "stats", 0);
	truth_field(&t, "io", "read_bytes", 20);
	truth_field(&t, "io", "total_ns", 950 * MS);
	assert_string_equal(truth_cell(&t, "io", "by_call", "read", "count"), "1");
	assert_string_equal(truth_cell(&t, "io", "by_call", "read", "total_ns"), "400000000");
	assert_string_equal(truth_cell(&t, "io", "by_call", "read", "max_ns"), "300000000");
	assert_string_equal(truth_cell(&t, "io", "by_call", "read", "bytes"), "20");
	assert_string_equal(truth_cell(&t, "io", "by_call", "write", "total_ns"), "50000000");
	assert_string_equal(truth_cell(&t, "io", "by_call", "write", "max_ns"), "100000000");
	assert_string_equal(truth_cell(&t, "io", "by_call", "stat", "count"), "0");
	assert_string_equal(truth_cell(&t, "io", "by_call", "stat", "total_ns"), "500000000");
	assert_string_equal(truth_cell(&t, "io", "by_call", "stat", "median_ns"), "-");
	truth_end(&t);
}

static void access_patterns(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	add_files(&t);
	for (int i = 0; i < 5; i++) /* 4 comparisons, all sequential */
		at_offset(&t, "pread", 1000 * i, 1, 100, 100 * i);
	for (int i = 0; i < 5; i++) /* the first step has no step to compare with: random, then 3 strided */
		at_offset(&t, "pwrite", 1000 * i + 100, 2, 100, 1000 * i);
	at_offset(&t, "pread", 10000, 3, 10, 0);
	at_offset(&t, "pread", 10100, 3, 10, 500);
	at_offset(&t, "pread", 10200, 3, 10, 90);
	at_offset(&t, "pread", 10300, 3, 10, 100);
	truth_analyze(&t, NULL);
	truth_table(&t, "io", "patterns",
			"read 7 0.714286 0 0.285714\n"
			"write 4 0 0.75 0.25\n");
	truth_table(&t, "io", "by_file",
			"5 0 50 500 5 0 0 0 5 500 0 sequential - /data/a\n"
			"5 0 50 500 0 5 0 0 5 0 500 strided - /data/b\n"
			"4 0 40 40 4 0 0 0 4 40 0 random - /c\n");
	truth_end(&t);
}

static void flow(struct truth *t, const char *ends, int is_new, const char *sums)
{
	truth_row(t, "flow",
			"start_ns dur_ns flow source destination name peer_name is_new bytes_out bytes_in packets_out "
			"packets_in payload_out payload_in retransmits_out retransmits_in rtt_min_ns",
			"1000 5 1 %s %d %s", ends, is_new, sums);
}

static void traffic_has_two_directions(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	flow(&t, "a b client server", 1, "1000 50 10 5 900 40 2 1 700");
	flow(&t, "a b client server", 0, "200 7 2 1 180 3 0 0 600"); /* a second row of the same flow */
	flow(&t, "b a server client", 1, "30 4 3 2 20 1 0 0 650");
	flow(&t, "c a - client", 1, "2000 0 20 0 1900 0 0 0 -");
	truth_analyze(&t, NULL);
	truth_expect(&t, "network",
			"flows 3\n"
			"packets 43\n"
			"traffic_bytes 3291\n"
			"retransmits 3\n"
			"matrix:\n"
			"c a 2000 0.607718 20 1900 0 1 -\n"
			"a b 1204 0.365846 14 1081 2 1 600\n"
			"b a 87 0.0264357 9 63 1 1 600\n"
			"a c 0 0 0 0 0 0 -\n"
			"by_process:\n"
			"- client 2000 0.607718 20 1900 0 1 -\n"
			"client server 1204 0.365846 14 1081 2 1 600\n"
			"server client 87 0.0264357 9 63 1 1 600\n"
			"client - 0 0 0 0 0 0 -\n");
	truth_end(&t);
}

static void runs_without_rows(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	truth_analyze(&t, NULL);
	truth_expect(&t, "io", "absent no calls were recorded\n");
	truth_expect(&t, "network", "absent no packets and no calls on sockets were recorded\n");
	truth_expect(&t, "spans", "absent no spans were recorded\n");
	truth_expect(&t, "gpu", "absent no GPU commands were recorded\n");
	truth_expect(&t, "counters", "absent no counters were recorded\n");
	truth_expect(&t, "swarms", "absent CPU samples were not recorded\n");
	truth_expect(&t, "features", "absent the machine's counters were not recorded (the probe system)\n");
	truth_expect(&t, "iterations", "absent the program announced no steps (sonde_step)\n");
	truth_expect(&t, "probes", "probes:\nsched on - 5 1\nnet off not asked for - -\n");
	truth_expect(&t, "diagnosis", "diagnosis:\n");
	truth_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_summed),
		cmocka_unit_test(ranges_are_half_open),
		cmocka_unit_test(windows_count_starts_and_clip_time),
		cmocka_unit_test(access_patterns),
		cmocka_unit_test(traffic_has_two_directions),
		cmocka_unit_test(runs_without_rows),
	};

	return RUN_TESTS(tests);
}
