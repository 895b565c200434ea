/*
 * The layer of the OpenCL loader: its two entry points, and everything except commands. Profiling is enabled on
 * queues, and queries that would reveal this return the program's own settings.
 */
#include "tracer/gpu/opencl.h"

#include <string.h>

#define ENTRIES ((cl_uint)(sizeof(cl_icd_dispatch) / sizeof(void *)))

static cl_icd_dispatch table; /* the entries that the program calls */

/* Queues. */

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
		cl_command_queue_properties properties, cl_int *error)
{
	bool is_forced = !(properties & CL_QUEUE_PROFILING_ENABLE);
	cl_command_queue queue = opencl_next.clCreateCommandQueue(context, device,
			properties | CL_QUEUE_PROFILING_ENABLE, error);
	if (queue)
		opencl_queue_made(queue, device, is_forced, NULL);
	else if (is_forced)
		return opencl_next.clCreateCommandQueue(context, device, properties, error);
	return queue;
}

/* The list with profiling added; false if it is too long to copy. */
static bool with_profiling(const cl_queue_properties *list, cl_queue_properties *out, bool *is_forced)
{
	size_t n = 0;
	bool has_word = false;
	*is_forced = true;
	for (; list && list[n]; n += 2) {
		if (n + 5 > OPENCL_PROPERTIES_MAX)
			return false;
		memcpy(out + n, list + n, 2 * sizeof(*list));
		if (list[n] != CL_QUEUE_PROPERTIES)
			continue;
		has_word = true;
		*is_forced = !(list[n + 1] & CL_QUEUE_PROFILING_ENABLE);
		out[n + 1] |= CL_QUEUE_PROFILING_ENABLE;
	}
	if (!has_word) {
		out[n++] = CL_QUEUE_PROPERTIES;
		out[n++] = CL_QUEUE_PROFILING_ENABLE;
	}
	out[n] = 0;
	return true;
}

static cl_command_queue CL_API_CALL create_queue_with(cl_context context, cl_device_id device,
		const cl_queue_properties *list, cl_int *error)
{
	static const cl_queue_properties empty[] = { 0 };
	cl_queue_properties more[OPENCL_PROPERTIES_MAX];
	bool is_forced = false;
	cl_command_queue queue = NULL;
	if (with_profiling(list, more, &is_forced))
		queue = opencl_next.clCreateCommandQueueWithProperties(context, device, more, error);
	if (queue)
		opencl_queue_made(queue, device, is_forced, list ? list : empty);
	else
		queue = opencl_next.clCreateCommandQueueWithProperties(context, device, list, error);
	return queue;
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue)
{
	cl_uint references = 0;
	opencl_collect();
	opencl_next.clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(references), &references, NULL);
	if (references == 1)
		opencl_queue_released(queue);
	return opencl_next.clReleaseCommandQueue(queue);
}

/* Queries. */

static cl_int answer(const void *value, size_t bytes, size_t room, void *out, size_t *size)
{
	if (out && room < bytes)
		return CL_INVALID_VALUE;
	if (out && bytes)
		memcpy(out, value, bytes);
	if (size)
		*size = bytes;
	return CL_SUCCESS;
}

static size_t list_bytes(const struct opencl_queue *q)
{
	size_t n = 0;
	while (q->properties[n])
		n += 2;
	return (n + 1) * sizeof(*q->properties);
}

static cl_int CL_API_CALL queue_info(cl_command_queue queue, cl_command_queue_info what, size_t room, void *out,
		size_t *size)
{
	struct opencl_queue q;
	cl_command_queue_properties bits = 0;
	bool is_asked = what == CL_QUEUE_PROPERTIES || what == CL_QUEUE_PROPERTIES_ARRAY;
	if (!is_asked || !opencl_queue_find(queue, &q) || !q.is_forced)
		return opencl_next.clGetCommandQueueInfo(queue, what, room, out, size);
	if (what == CL_QUEUE_PROPERTIES_ARRAY && q.has_properties && q.properties[0])
		return answer(q.properties, list_bytes(&q), room, out, size);
	if (what == CL_QUEUE_PROPERTIES_ARRAY) /* created without a list, or with an empty one */
		return q.has_properties ? answer(q.properties, 0, room, out, size)
					: opencl_next.clGetCommandQueueInfo(queue, what, room, out, size);
	cl_int status = opencl_next.clGetCommandQueueInfo(queue, what, sizeof(bits), &bits, NULL);
	bits &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
	return status ? status : answer(&bits, sizeof(bits), room, out, size);
}

static cl_int CL_API_CALL event_times(cl_event event, cl_profiling_info what, size_t room, void *out, size_t *size)
{
	cl_command_queue queue = NULL;
	struct opencl_queue q;
	if (!opencl_next.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(queue), &queue, NULL) && queue &&
			opencl_queue_find(queue, &q) && q.is_forced)
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return opencl_next.clGetEventProfilingInfo(event, what, room, out, size);
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t room, void *out, size_t *size)
{
	cl_uint held = what == CL_EVENT_REFERENCE_COUNT ? opencl_holds(event) : 0, references = 0;
	cl_int status = opencl_next.clGetEventInfo(event, what, room, out, size);
	if (held && !status && out && room >= sizeof(references)) {
		memcpy(&references, out, sizeof(references));
		references -= held < references ? held : 0;
		memcpy(out, &references, sizeof(references));
	}
	return status;
}

/* Calls after which commands may have completed. */

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
	cl_int status = opencl_next.clFinish(queue);
	opencl_collect();
	return status;
}

static cl_int CL_API_CALL wait_for(cl_uint count, const cl_event *events)
{
	cl_int status = opencl_next.clWaitForEvents(count, events);
	opencl_collect();
	return status;
}

GPU_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *out, size_t *size)
{
	static const char name[] = "sonde";
	const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	if (what == CL_LAYER_API_VERSION)
		return answer(&version, sizeof(version), room, out, size);
	if (what == CL_LAYER_NAME)
		return answer(name, sizeof(name), room, out, size);
	return CL_INVALID_VALUE;
}

GPU_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *below, cl_uint *ours,
		const cl_icd_dispatch **layer)
{
	cl_uint known = entries < ENTRIES ? entries : ENTRIES;
	if (!below || !ours || !layer)
		return CL_INVALID_VALUE;
	memset(&opencl_next, 0, sizeof(opencl_next));
	/* cppcheck-suppress pointerSize ; a table of pointers */
	memcpy(&opencl_next, below, known * sizeof(void *));
	table = opencl_next;
	if (gpu_is_on() && opencl_next.clGetEventProfilingInfo && opencl_next.clReleaseEvent) {
		opencl_watch_commands(&table);
		table.clCreateCommandQueue = create_queue;
		if (opencl_next.clCreateCommandQueueWithProperties)
			table.clCreateCommandQueueWithProperties = create_queue_with;
		table.clReleaseCommandQueue = release_queue;
		table.clGetCommandQueueInfo = queue_info;
		table.clGetEventProfilingInfo = event_times;
		table.clGetEventInfo = event_info;
		table.clFinish = finish;
		table.clWaitForEvents = wait_for;
	}
	*layer = &table;
	*ours = known;
	return CL_SUCCESS;
}
