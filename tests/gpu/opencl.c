/*
 * A program that uses OpenCL and prints what it computed and what it learnt of its queues
 * and events: the same with and without a layer. Each command is told on stderr when
 * EXPECT is set, as the recording shall show it.
 *
 *	opencl [profiled|plain|list|unfinished|forks|killed]
 *	opencl threads N    four threads with a queue each and N kernels each, waited for now and then
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT 65536
#define BYTES (COUNT * sizeof(float))

static const char *source = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }\n"
			    "__kernel void add(__global float *x, __global const float *y) "
			    "{ x[get_global_id(0)] += y[get_global_id(0)]; }\n";

static void check(cl_int status, const char *what)
{
	if (status == CL_SUCCESS)
		return;
	printf("%s: %d\n", what, status);
	exit(1);
}

static void expect(const char *line)
{
	if (getenv("EXPECT"))
		fprintf(stderr, "%s\n", line);
}

static void tell_queue(cl_command_queue queue)
{
	cl_command_queue_properties bits = 99;
	cl_queue_properties list[16] = { 77 };
	size_t size = 99;
	check(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(bits), &bits, NULL), "properties");
	printf("properties %llu\n", (unsigned long long)bits);
	if (clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof(list), list, &size) == CL_SUCCESS)
		printf("list of %zu bytes, %llu %llu\n", size, size > 0 ? (unsigned long long)list[0] : 0,
				size > 8 ? (unsigned long long)list[1] : 0);
}

static void tell_event(cl_event event)
{
	cl_ulong at = 0;
	cl_int status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(at), &at, NULL);
	printf("times %d %s\n", status, at ? "known" : "not known");
}

static cl_command_queue make_queue(const char *how, cl_context context, cl_device_id device)
{
	const cl_queue_properties list[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0 };
	cl_int status;
	cl_command_queue queue;
	if (!strcmp(how, "list"))
		queue = clCreateCommandQueueWithProperties(context, device, list, &status);
	else
		queue = clCreateCommandQueue(context, device, !strcmp(how, "profiled") ? CL_QUEUE_PROFILING_ENABLE : 0,
				&status);
	check(status, "queue");
	return queue;
}

static struct {
	cl_context context;
	cl_device_id device;
	cl_program program;
	int kernels;
} shared;

static void *work(void *arg)
{
	cl_int status;
	float zero = 0, got = -1;
	size_t global = 16;
	cl_command_queue queue = make_queue("plain", shared.context, shared.device);
	cl_kernel twice = clCreateKernel(shared.program, "twice", &status);
	cl_mem x = clCreateBuffer(shared.context, CL_MEM_READ_WRITE, 16 * sizeof(float), NULL, &status);
	check(clEnqueueFillBuffer(queue, x, &zero, sizeof(zero), 0, 16 * sizeof(float), 0, NULL, NULL), "fill");
	clSetKernelArg(twice, 0, sizeof(x), &x);
	for (int i = 0; i < shared.kernels; i++) {
		check(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 0, NULL, NULL), "kernel");
		if (i % 50 == 49)
			check(clFinish(queue), "finish");
	}
	check(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, sizeof(got), &got, 0, NULL, NULL), "read");
	clReleaseMemObject(x);
	clReleaseKernel(twice);
	clReleaseCommandQueue(queue);
	*(float *)arg = got;
	return NULL;
}

static int be_threads(cl_context context, cl_device_id device, cl_program program, int kernels)
{
	pthread_t threads[4];
	float got[4];
	shared.context = context;
	shared.device = device;
	shared.program = program;
	shared.kernels = kernels;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, &got[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%g %g %g %g\n", (double)got[0], (double)got[1], (double)got[2], (double)got[3]);
	return 0;
}

/* As a program that trains: the same commands again and again. */
static int be_loop(cl_context context, cl_device_id device, cl_program program, int rounds)
{
	cl_int status;
	static float host[COUNT];
	size_t global = COUNT;
	cl_command_queue queue = make_queue("plain", context, device);
	cl_kernel twice = clCreateKernel(program, "twice", &status), add = clCreateKernel(program, "add", &status);
	cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
	cl_mem y = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
	clSetKernelArg(twice, 0, sizeof(x), &x);
	clSetKernelArg(add, 0, sizeof(x), &x);
	clSetKernelArg(add, 1, sizeof(y), &y);
	for (int i = 0; i < rounds; i++) {
		check(clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, BYTES, host, 0, NULL, NULL), "write");
		check(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 0, NULL, NULL), "kernel");
		check(clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, NULL, 0, NULL, NULL), "kernel");
		check(clEnqueueReadBuffer(queue, x, CL_TRUE, 0, BYTES, host, 0, NULL, NULL), "read");
		usleep(20000); /* what it does with that */
	}
	clReleaseMemObject(x);
	clReleaseMemObject(y);
	clReleaseKernel(twice);
	clReleaseKernel(add);
	clReleaseCommandQueue(queue);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";
	cl_platform_id platform;
	cl_device_id device;
	cl_uint platforms = 0;
	cl_int status;
	float *host = malloc(BYTES);
	size_t global = COUNT;
	cl_event done;

	if (clGetPlatformIDs(1, &platform, &platforms) != CL_SUCCESS || !platforms ||
			clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
		printf("no device\n");
		return 77;
	}
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	check(status, "context");
	cl_command_queue queue = make_queue(how, context, device);
	tell_queue(queue);
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);
	check(status, "program");
	check(clBuildProgram(program, 1, &device, NULL, NULL, NULL), "build");
	if (!strcmp(how, "threads"))
		return be_threads(context, device, program, argc > 2 ? (int)strtol(argv[2], NULL, 10) : 100);
	if (!strcmp(how, "loop"))
		return be_loop(context, device, program, argc > 2 ? (int)strtol(argv[2], NULL, 10) : 20);
	cl_kernel twice = clCreateKernel(program, "twice", &status), add = clCreateKernel(program, "add", &status);
	cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
	cl_mem y = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
	float one = 1;
	for (int i = 0; i < COUNT; i++)
		host[i] = (float)i;

	check(clEnqueueWriteBuffer(queue, x, CL_TRUE, 0, BYTES, host, 0, NULL, NULL), "write");
	expect("copy host-to-device 262144 write buffer");
	check(clEnqueueFillBuffer(queue, y, &one, sizeof(one), 0, BYTES, 0, NULL, NULL), "fill");
	expect("fill null 262144 fill buffer");
	check(clFinish(queue), "finish");
	clSetKernelArg(twice, 0, sizeof(x), &x);
	for (int i = 0; i < 3; i++) {
		check(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 0, NULL, &done), "kernel");
		check(clWaitForEvents(1, &done), "wait");
		expect("kernel null null twice");
		if (!i)
			tell_event(done);
		check(clReleaseEvent(done), "release");
	}
	clSetKernelArg(add, 0, sizeof(x), &x);
	clSetKernelArg(add, 1, sizeof(y), &y);
	check(clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, NULL, 0, NULL, NULL), "kernel");
	expect("kernel null null add");
	check(clFinish(queue), "finish");
	check(clEnqueueCopyBuffer(queue, x, y, 0, 0, BYTES / 2, 0, NULL, &done), "copy");
	expect("copy device-to-device 131072 copy buffer");
	check(clEnqueueReadBuffer(queue, y, CL_FALSE, 0, BYTES / 2, host, 1, &done, NULL), "read");
	expect("copy device-to-host 131072 read buffer");
	if (!strcmp(how, "forks")) { /* a child that ends in the usual way must find nothing to wait for */
		fflush(stdout);
		pid_t child = fork();
		if (!child)
			exit(0);
		waitpid(child, NULL, 0);
	}
	check(clFinish(queue), "finish");
	check(clEnqueueReadBuffer(queue, y, CL_TRUE, 2 * BYTES, 16, host, 0, NULL, NULL) == CL_INVALID_VALUE
					? CL_SUCCESS
					: -1,
			"a command that fails");
	double sum = 0;
	for (int i = 0; i < COUNT / 2; i++)
		sum += host[i];
	printf("sum %.0f\n", sum);
	if (!strcmp(how, "killed")) {
		fflush(stdout);
		raise(SIGKILL);
	}
	if (!strcmp(how, "unfinished")) /* everything has ended, nothing is given back */
		return 3;
	clReleaseEvent(done);
	clReleaseMemObject(x);
	clReleaseMemObject(y);
	clReleaseKernel(twice);
	clReleaseKernel(add);
	clReleaseProgram(program);
	check(clReleaseCommandQueue(queue), "release queue");
	clReleaseContext(context);
	free(host);
	return 0;
}
