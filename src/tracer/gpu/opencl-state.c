/* Queues, devices and unfinished commands; see opencl.h. */
#include "tracer/gpu/opencl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PENDING_MAX 65536
#define GLANCE 16 /* commands polled when another one is enqueued */
#define NAME_BYTES 256
#define TIMER_TRIES 3

struct opencl_device {
	cl_device_id handle;
	int32_t number;
	bool has_timer;
	char name[NAME_BYTES];
	struct gpu_clock clock;
	struct opencl_device *after;
};

struct pending {
	cl_event event;
	struct opencl_device *device;
	struct sonde_gpu_command command;
	int64_t begin_ns, end_ns; /* of the call that enqueued it */
	char name[NAME_BYTES];
	struct pending *after;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opencl_queue *queues;
static struct opencl_device *devices;
static struct pending *first, **last = &first;
static size_t pending_count;
static int64_t queue_count;
static int32_t device_count;

cl_icd_dispatch opencl_next;

static pid_t owner; /* created the first queue: a forked child lacks the implementation's threads */

static bool is_ending;

static void collect_at_exit(void)
{
	if (getpid() != owner)
		return;
	is_ending = true;
	opencl_collect();
}

/* Devices with a timer are queried repeatedly; for the others the clock is derived from commands. */
static void read_timer(struct opencl_device *d)
{
	if (!d->has_timer || !gpu_clock_is_stale(&d->clock, gpu_now_ns()))
		return;
	for (int i = 0; i < TIMER_TRIES; i++) {
		cl_ulong device_ns = 0, host_ns = 0;
		int64_t before_ns = gpu_now_ns();
		d->has_timer = opencl_next.clGetDeviceAndHostTimer(d->handle, &device_ns, &host_ns) == CL_SUCCESS &&
				device_ns > 0 && device_ns <= INT64_MAX;
		if (!d->has_timer)
			return;
		gpu_clock_bracket(&d->clock, (int64_t)device_ns, before_ns, gpu_now_ns());
	}
}

/*
 * A device without a timer: the profiling data of markers in our own queue contains when they were enqueued. The
 * program's own commands are less precise, because a blocking call takes long.
 */
static void read_markers(struct opencl_device *d, cl_event of)
{
	cl_context context = NULL;
	if (opencl_next.clGetEventInfo(of, CL_EVENT_CONTEXT, sizeof(context), &context, NULL) || is_ending)
		return;
	cl_command_queue queue = opencl_next.clCreateCommandQueue(context, d->handle, CL_QUEUE_PROFILING_ENABLE, NULL);
	for (int i = 0; queue && i < TIMER_TRIES; i++) {
		cl_event event = NULL;
		cl_ulong queued = 0;
		int64_t before_ns = gpu_now_ns();
		cl_int status = opencl_next.clEnqueueMarker(queue, &event);
		int64_t after_ns = gpu_now_ns();
		if (status)
			break;
		if (!opencl_next.clWaitForEvents(1, &event) &&
				!opencl_next.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof(queued),
						&queued, NULL) &&
				queued && queued <= INT64_MAX)
			gpu_clock_bracket(&d->clock, (int64_t)queued, before_ns, after_ns);
		opencl_next.clReleaseEvent(event);
	}
	if (queue)
		opencl_next.clReleaseCommandQueue(queue);
}

static struct opencl_device *device_of(cl_device_id handle)
{
	for (struct opencl_device *d = devices; d; d = d->after)
		if (d->handle == handle)
			return d;
	struct opencl_device *d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->handle = handle;
	d->number = device_count++;
	d->has_timer = opencl_next.clGetDeviceAndHostTimer != NULL;
	if (opencl_next.clGetDeviceInfo(handle, CL_DEVICE_NAME, sizeof(d->name) - 1, d->name, NULL))
		snprintf(d->name, sizeof(d->name), "device %d", (int)d->number);
	d->after = devices;
	devices = d;
	return d;
}

static struct opencl_queue *queue_of(cl_command_queue handle)
{
	struct opencl_queue *q = queues;
	while (q && q->handle != handle)
		q = q->after;
	return q;
}

void opencl_queue_made(cl_command_queue handle, cl_device_id device, bool is_forced, const cl_queue_properties *list)
{
	static bool has_exit;
	pthread_mutex_lock(&lock);
	struct opencl_queue *q = queue_of(handle);
	if (!q && (q = calloc(1, sizeof(*q)))) {
		q->after = queues;
		queues = q;
	}
	if (q) {
		*q = (struct opencl_queue){ .handle = handle, .is_forced = is_forced, .after = q->after };
		q->number = queue_count++;
		q->device = device_of(device);
		q->has_properties = list != NULL;
		for (size_t i = 0; list && list[i] && i + 3 < OPENCL_PROPERTIES_MAX; i += 2)
			memcpy(q->properties + i, list + i, 2 * sizeof(*list));
	}
	owner = getpid();
	if (!has_exit) /* only now: the implementation's exit handlers must run after ours */
		has_exit = !atexit(collect_at_exit);
	pthread_mutex_unlock(&lock);
}

void opencl_queue_released(cl_command_queue handle)
{
	pthread_mutex_lock(&lock);
	for (struct opencl_queue **at = &queues; *at; at = &(*at)->after)
		if ((*at)->handle == handle) {
			struct opencl_queue *gone = *at;
			*at = gone->after;
			free(gone);
			break;
		}
	pthread_mutex_unlock(&lock);
}

bool opencl_queue_find(cl_command_queue handle, struct opencl_queue *out)
{
	pthread_mutex_lock(&lock);
	const struct opencl_queue *q = queue_of(handle);
	if (q)
		*out = *q;
	pthread_mutex_unlock(&lock);
	return q != NULL;
}

/* Reporting of completed commands. */

static int64_t time_of(struct opencl_device *d, cl_event event, cl_profiling_info which)
{
	cl_ulong at = 0;
	if (opencl_next.clGetEventProfilingInfo(event, which, sizeof(at), &at, NULL) != CL_SUCCESS)
		return SONDE_NONE;
	return gpu_clock_ns(&d->clock, at);
}

static void tell(struct pending *p, cl_int status)
{
	struct sonde_gpu_command *c = &p->command;
	cl_ulong queued = 0;
	read_timer(p->device);
	if (!p->device->has_timer && gpu_clock_is_stale(&p->device->clock, gpu_now_ns()))
		read_markers(p->device, p->event);
	if (!p->device->has_timer &&
			opencl_next.clGetEventProfilingInfo(p->event, CL_PROFILING_COMMAND_QUEUED, sizeof(queued),
					&queued, NULL) == CL_SUCCESS &&
			queued && queued <= INT64_MAX)
		gpu_clock_bracket(&p->device->clock, (int64_t)queued, p->begin_ns, p->end_ns);
	c->queued_ns = time_of(p->device, p->event, CL_PROFILING_COMMAND_QUEUED);
	c->submit_ns = time_of(p->device, p->event, CL_PROFILING_COMMAND_SUBMIT);
	c->start_ns = time_of(p->device, p->event, CL_PROFILING_COMMAND_START);
	c->end_ns = time_of(p->device, p->event, CL_PROFILING_COMMAND_END);
	if (c->queued_ns == SONDE_NONE)
		c->queued_ns = p->begin_ns;
	c->error_ns = gpu_clock_error_ns(&p->device->clock);
	c->status = status < 0 ? status : 0;
	c->name = p->name;
	c->device = p->device->name;
	gpu_emit(c);
}

/* If the command has completed, report and remove it. `at` is the link that points to it. */
static bool settle(struct pending **at, bool is_given_up)
{
	struct pending *p = *at;
	cl_int status = CL_QUEUED;
	cl_int rc = opencl_next.clGetEventInfo(p->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
			NULL);
	bool has_ended = rc == CL_SUCCESS && status <= CL_COMPLETE;
	if (!has_ended && !is_given_up)
		return false;
	if (has_ended)
		tell(p, status);
	else
		gpu_drop();
	*at = p->after;
	if (!p->after)
		last = at;
	pending_count--;
	opencl_next.clReleaseEvent(p->event);
	free(p);
	return true;
}

static void look(size_t most)
{
	struct pending **at = &first;
	for (size_t i = 0; *at && i < most; i++)
		if (!settle(at, false))
			at = &(*at)->after;
}

void opencl_collect(void)
{
	pthread_mutex_lock(&lock);
	look(SIZE_MAX);
	pthread_mutex_unlock(&lock);
}

cl_uint opencl_holds(cl_event event)
{
	cl_uint held = 0;
	pthread_mutex_lock(&lock);
	for (const struct pending *p = first; p; p = p->after)
		held += p->event == event;
	pthread_mutex_unlock(&lock);
	return held;
}

/* Commands. */

void opencl_begin(struct opencl_watch *w, cl_command_queue queue, cl_event *event)
{
	*w = (struct opencl_watch){ .queue = queue, .event = event };
	pthread_mutex_lock(&lock);
	const struct opencl_queue *q = queue_of(queue);
	w->is_watched = q && q->device && gpu_is_on();
	pthread_mutex_unlock(&lock);
	if (w->is_watched && !event)
		w->event = &w->own;
	w->begin_ns = gpu_now_ns();
}

static void add(const struct opencl_watch *w, const struct opencl_what *what)
{
	const struct opencl_queue *q = queue_of(w->queue);
	struct pending *p = q && q->device ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		if (w->event == &w->own)
			opencl_next.clReleaseEvent(w->own);
		gpu_drop();
		return;
	}
	if (w->event != &w->own)
		opencl_next.clRetainEvent(*w->event);
	p->event = *w->event;
	p->device = q->device;
	p->begin_ns = w->begin_ns;
	p->end_ns = gpu_now_ns();
	p->command = (struct sonde_gpu_command){ .kind = what->kind,
		.direction = what->direction,
		.api = "opencl",
		.device_id = q->device->number,
		.tid = (int32_t)syscall(SYS_gettid),
		.queue = q->number,
		.bytes = what->bytes,
		.items = what->items };
	if (what->name)
		snprintf(p->name, sizeof(p->name), "%s", what->name);
	else if (opencl_next.clGetKernelInfo(what->kernel, CL_KERNEL_FUNCTION_NAME, sizeof(p->name), p->name, NULL))
		snprintf(p->name, sizeof(p->name), "(kernel with a long name)");
	*last = p;
	last = &p->after;
	if (++pending_count > PENDING_MAX)
		settle(&first, true);
}

cl_int opencl_end(struct opencl_watch *w, cl_int status, const struct opencl_what *what)
{
	if (status != CL_SUCCESS || !w->is_watched)
		return status;
	pthread_mutex_lock(&lock);
	add(w, what);
	look(what->is_blocking ? SIZE_MAX : GLANCE);
	pthread_mutex_unlock(&lock);
	return status;
}
