/* Counters of programs and of the machine, SOFA's features, commands of GPUs, function clusters. */
#include "truth.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OPTS(...) (&(struct analyze_opts){ .threads = 1, .part = { 0, 1 }, __VA_ARGS__ })

static void counter(struct truth *t, const char *name, int64_t at_ns, double value)
{
	truth_row(t, "counter", "ts_ns name value", "%lld %s %.17g", (long long)(T0 + at_ns), name, value);
}

static void counters_are_summarized(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	truth_row(&t, "series", "name unit is_total", "mem.free bytes 0");
	for (int i = 1; i <= 5; i++)
		counter(&t, "loss", i * MS, 10 * i);
	counter(&t, "mem.free", 5 * MS, 7);
	counter(&t, "mem.free", 6 * MS, 9);
	counter(&t, "other", 6 * MS, -1);
	truth_analyze(&t, NULL);
	truth_expect(&t, "counters",
			"counters 3\n"
			"by_name:\n"
			"loss 5 10 20.0623 30.0624 30 40.1246 50\n"
			"other 1 -1 -1 -1 -1 -1 -1\n"
			"of_probes:\n"
			"mem.free 2 7 7 7 8 7 9\n");
	truth_analyze(&t, OPTS(.top = 1));
	truth_table(&t, "counters", "by_name",
			"loss 5 10 20.0623 30.0624 30 40.1246 50\n"
			"of 2\n");
	truth_end(&t);
}

/*
 * 11 windows of 100 ms, of which the last is empty. CPU 0: 90 ms user time in windows 1-4, 50 ms system time in 5 and
 * 6; CPU 1 less; I/O wait in 7. Windows 0 and 8-10 are idle.
 */
static void add_machine(struct truth *t)
{
	double user[2] = { 0, 0 }, system = 0, iowait = 0, sent = 0, loopback = 0, read = 0;

	for (int i = 0; i < 10; i++) {
		int64_t at = i * 100 * MS;

		counter(t, "cpu.0.user_ns", at, user[0]);
		counter(t, "cpu.1.user_ns", at, user[1]);
		counter(t, "cpu.0.system_ns", at, system);
		counter(t, "cpu.0.iowait_ns", at, iowait);
		counter(t, "net.eth0.tx_bytes", at, sent);
		counter(t, "net.lo.tx_bytes", at, loopback);
		counter(t, "disk.sda.read_bytes", at, read);
		user[0] += i >= 1 && i <= 4 ? 90 * MS : 5 * MS;
		user[1] += i >= 1 && i <= 4 ? 20 * MS : 0;
		system += i == 5 || i == 6 ? 50 * MS : 1 * MS;
		iowait += i == 7 ? 30 * MS : 0;
		sent += i < 5 ? 1000 : 0;
		loopback += 1000000;
		read += i == 3 ? 4096 : 0;
		counter(t, "cpu.0.user_ns", at + 99 * MS, user[0]);
		counter(t, "cpu.1.user_ns", at + 99 * MS, user[1]);
		counter(t, "cpu.0.system_ns", at + 99 * MS, system);
		counter(t, "cpu.0.iowait_ns", at + 99 * MS, iowait);
		counter(t, "net.eth0.tx_bytes", at + 99 * MS, sent);
		counter(t, "net.lo.tx_bytes", at + 99 * MS, loopback);
		counter(t, "disk.sda.read_bytes", at + 99 * MS, read);
	}
	counter(t, "cpu.all.user_ns", 999 * MS, 470 * MS);
	counter(t, "cpu.all.nice_ns", 999 * MS, 10 * MS);
	counter(t, "cpu.all.system_ns", 999 * MS, 120 * MS);
	counter(t, "vm.page_in_bytes", 999 * MS, 2048);
	counter(t, "vm.page_out_bytes", 999 * MS, 4096);
	counter(t, "sched.switches", 999 * MS, 500);
	counter(t, "sched.interrupts", 999 * MS, 70);
	counter(t, "gpu.0.util_percent", 100 * MS, 10);
	counter(t, "gpu.0.util_percent", 200 * MS, 20);
	counter(t, "gpu.0.util_percent", 300 * MS, 30);
	counter(t, "gpu.0.util_percent", 400 * MS, 30);
	counter(t, "gpu.0.memory_util_percent", 100 * MS, 5);
	truth_row(t, "block", "ts_ns dur_ns device rw bytes", "1000 1000000 sda read 4096");
	truth_row(t, "block", "ts_ns dur_ns device rw bytes", "2000 3000000 sda read 4096");
}

static void gpu(struct truth *t, const char *kind, const char *name, const char *direction, int64_t at_ns,
		int64_t dur_ns, int64_t bytes)
{
	truth_row(t, "gpu", "ts_ns dur_ns process pid tid api kind name device device_id direction bytes status",
			"%lld %lld 1 10 10 cuda %s %s card 0 %s %lld 0", (long long)(T0 + at_ns), (long long)dur_ns,
			kind, name, direction, (long long)bytes);
}

static void add_commands(struct truth *t)
{
	gpu(t, "kernel", "conv_fw_1", "-", 0, 30 * MS, 0);
	gpu(t, "kernel", "conv_fw_1", "-", 40 * MS, 10 * MS, 0);
	gpu(t, "kernel", "conv_bw_1", "-", 45 * MS, 20 * MS, 0); /* overlaps by 5 ms */
	gpu(t, "kernel", "ncclReduce", "-", 70 * MS, 6 * MS, 0);
	gpu(t, "copy", "memcpy", "host-to-device", 800 * MS, 50 * MS, 1000000);
	gpu(t, "copy", "memcpy", "host-to-device", 860 * MS, 50 * MS, 500000);
	gpu(t, "copy", "memcpy", "device-to-host", 920 * MS, 1 * MS, 100);
	gpu(t, "fill", "memset", "-", 930 * MS, 1 * MS, 77);
}

static void machine_has_features(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	add_machine(&t);
	truth_analyze(&t, NULL);
	truth_expect(&t, "features",
			"usr 0.363636\n"
			"sys 0.181818\n"
			"iow 0.0909091\n"
			"gpu 0\n"
			"idl 0.363636\n"
			"windows 11\n"
			"window_ns 100000000\n"
			"vector:\n"
			"elapsed_time 1\n"
			"num_cores 2\n"
			"cpu_util 0.3\n"
			"vm_bi 2\n"
			"vm_bo 4\n"
			"vm_cs 500\n"
			"vm_in 70\n"
			"elapsed_usr_time_ratio 0.363636\n"
			"elapsed_sys_time_ratio 0.181818\n"
			"elapsed_iow_time_ratio 0.0909091\n"
			"elapsed_gpu_time_ratio 0\n"
			"elapsed_idl_time_ratio 0.363636\n"
			"bw_tx_q2 0\n"
			"bw_tx_q3 10000\n"
			"diskstat_q1 0\n"
			"diskstat_q2 0\n"
			"diskstat_q3 0\n"
			"corr_usr_sys -0.343032\n"
			"corr_usr_iow -0.233434\n"
			"corr_sys_iow -0.1472\n"
			"blktrace_latency_q1 0.001\n"
			"blktrace_latency_q2 0.001\n"
			"blktrace_latency_q3 0.001\n"
			"num_gpus 0\n"
			"gpu_sm_util 22.5\n"
			"gpu_sm_util_q2 20.0623\n"
			"gpu_sm_util_q3 30\n"
			"gpu_mem_util 5\n"
			"gpu_mem_util_q2 5\n"
			"gpu_mem_util_q3 5\n"
			"elapsed_hotspot_time 0.2\n");
	truth_end(&t);
}

static void devices_have_features(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	add_machine(&t);
	add_commands(&t);
	for (int i = 0; i < 3; i++)
		truth_row(&t, "step", "ts_ns process pid tid name index", "%lld 1 10 10 epoch %d", T0 + i * 100 * MS,
				i);
	truth_analyze(&t, OPTS(.gpu_filters = "conv:red,nccl:blue"));
	truth_expect(&t, "gpu",
			"devices 1\n"
			"busy_ns 163000000\n"
			"kernel_ns 66000000\n"
			"copy_ns 101000000\n"
			"copied_bytes 1500100\n"
			"kernels:\n"
			"conv_fw_1 40000000 2 30000000\n"
			"conv_bw_1 20000000 1 20000000\n"
			"ncclReduce 6000000 1 6000000\n"
			"copies:\n"
			"host-to-device 100000000 2 1500000 1.5e+07\n"
			"device-to-host 1000000 1 100 100000\n"
			"groups:\n"
			"conv red 60000000 0.909091 2\n"
			"nccl blue 6000000 0.0909091 1\n");
	truth_table(&t, "features", "vector",
			"elapsed_time 1\n"
			"num_cores 2\n"
			"cpu_util 0.3\n"
			"vm_bi 2\n"
			"vm_bo 4\n"
			"vm_cs 500\n"
			"vm_in 70\n"
			"elapsed_usr_time_ratio 0.363636\n"
			"elapsed_sys_time_ratio 0.181818\n"
			"elapsed_iow_time_ratio 0.0909091\n"
			"elapsed_gpu_time_ratio 0.272727\n"
			"elapsed_idl_time_ratio 0.0909091\n"
			"bw_tx_q2 0\n"
			"bw_tx_q3 10000\n"
			"diskstat_q1 0\n"
			"diskstat_q2 0\n"
			"diskstat_q3 0\n"
			"corr_usr_sys -0.343032\n"
			"corr_usr_iow -0.233434\n"
			"corr_sys_iow -0.1472\n"
			"corr_gpu_usr -0.373281\n"
			"corr_gpu_sys -0.235385\n"
			"corr_gpu_iow -0.159909\n"
			"corr_gpu_ntx -0.062648\n"
			"blktrace_latency_q1 0.001\n"
			"blktrace_latency_q2 0.001\n"
			"blktrace_latency_q3 0.001\n"
			"num_gpus 1\n"
			"gpu_time 0.163\n"
			"kernel_time 0.066\n"
			"nccl_time 0.006\n"
			"copy_time 0.101\n"
			"h2d_payload 1.5e+06\n"
			"h2d_time 0.1\n"
			"h2d_bandwidth 1.5e+07\n"
			"d2h_payload 100\n"
			"d2h_time 0.001\n"
			"d2h_bandwidth 100000\n"
			"iter_fw_time 0.02\n"
			"iter_bw_time 0.01\n"
			"iter_copy_time 0.0505\n"
			"gpu_sm_util 22.5\n"
			"gpu_sm_util_q2 20.0623\n"
			"gpu_sm_util_q3 30\n"
			"gpu_mem_util 5\n"
			"gpu_mem_util_q2 5\n"
			"gpu_mem_util_q3 5\n"
			"elapsed_hotspot_time 0.2\n");
	truth_end(&t);
}

static void sample(struct truth *t, int64_t at_ns, int tid, int stack)
{
	truth_row(t, "sample", "ts_ns process pid tid event weight_ns count is_kernel stack",
			"%lld 1 10 %d cpu-clock 1000 1 0 %d", (long long)(T0 + at_ns), tid, stack);
}

/* a and b run in the first half, c and d in the second, e in another thread all the time. */
static void functions_form_clusters(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	truth_modules(&t);
	truth_stack(&t, 1, 0, 2, "zeta");
	truth_stack(&t, 2, 0, 2, "beta");
	truth_stack(&t, 3, 0, 2, "gamma");
	truth_stack(&t, 4, 0, 2, "delta");
	truth_stack(&t, 5, 0, 2, "other");
	truth_stack(&t, 6, 0, 2, "rare");
	for (int i = 0; i < 100; i++) {
		sample(&t, i * 10 * MS, 10, i < 50 ? 1 + i % 2 : 3 + i % 3 / 2);
		sample(&t, i * 10 * MS, 11, 5);
	}
	sample(&t, 20 * MS, 10, 6);
	sample(&t, 30 * MS, 10, 0); /* no such stack */
	truth_analyze(&t, NULL);
	truth_expect(&t, "swarms",
			"count 3\n"
			"functions 6\n"
			"left_out 1\n"
			"by_swarm:\n"
			"other 100000 0.497512 100 1 0 990000000 s-c87d8df5 other\n"
			"beta 51000 0.253731 51 3 0 490000000 s-af81e4c7 beta, zeta, rare\n"
			"delta 50000 0.248756 50 2 500000000 990000000 s-6b017c21 gamma, delta\n");
	truth_analyze(&t, OPTS(.has_range = true, .from_ns = T0, .to_ns = T0 + 500 * MS, .top = 1));
	truth_expect(&t, "swarms",
			"count 2\n"
			"functions 4\n"
			"left_out 101\n"
			"by_swarm:\n"
			"beta 51000 0.50495 51 3 0 490000000 s-af81e4c7 beta, zeta, rare\n"
			"of 2\n");
	truth_end(&t);
}

/* A run of two seconds: rates are per second, shares of both CPUs' time. */
static void rates_are_per_second(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	t.bundle.json = "{\"sonde_run\":1,\"state\":\"complete\",\"name\":\"test\",\"wall_ns\":2000000000,"
			"\"host\":{\"cpus\":2},"
			"\"clock\":{\"start_mono_ns\":1000,\"start_real_ns\":5}}";
	counter(&t, "cpu.all.user_ns", 1900 * MS, 600 * MS);
	counter(&t, "cpu.all.nice_ns", 1900 * MS, 200 * MS);
	counter(&t, "cpu.all.system_ns", 1900 * MS, 400 * MS);
	counter(&t, "vm.page_in_bytes", 1900 * MS, 2048);
	counter(&t, "vm.page_out_bytes", 1900 * MS, 8192);
	counter(&t, "sched.switches", 1900 * MS, 500);
	counter(&t, "sched.interrupts", 1900 * MS, 70);
	for (int i = 0; i < 20; i++) {
		counter(&t, "net.eth0.tx_bytes", i * 100 * MS, 1000.0 * i * 5);
		counter(&t, "net.eth0.tx_bytes", i * 100 * MS + 50 * MS, 1000.0 * i * 5 + 5000);
	}
	truth_analyze(&t, NULL);
	assert_string_equal(truth_cell(&t, "features", "vector", "elapsed_time", "value"), "2");
	assert_string_equal(truth_cell(&t, "features", "vector", "num_cores", "value"), "2");
	assert_string_equal(truth_cell(&t, "features", "vector", "cpu_util", "value"), "0.3");
	assert_string_equal(truth_cell(&t, "features", "vector", "vm_bi", "value"), "1");
	assert_string_equal(truth_cell(&t, "features", "vector", "vm_bo", "value"), "4");
	assert_string_equal(truth_cell(&t, "features", "vector", "vm_cs", "value"), "250");
	assert_string_equal(truth_cell(&t, "features", "vector", "vm_in", "value"), "35");
	assert_string_equal(truth_cell(&t, "features", "vector", "bw_tx_q2", "value"), "50000"); /* 5000 in a tenth */
	truth_field(&t, "features", "windows", 21);
	truth_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_summarized),
		cmocka_unit_test(machine_has_features),
		cmocka_unit_test(devices_have_features),
		cmocka_unit_test(rates_are_per_second),
		cmocka_unit_test(functions_form_clusters),
	};

	return RUN_TESTS(tests);
}
