/*
 * Wrappers of the OpenCL commands: description, real call, and its event, kept until the command has completed. A new
 * one is a row of opencl-commands.def.
 */
#include "tracer/gpu/opencl.h"

#define NONE SONDE_NONE
#define HTOD SONDE_GPU_HOST_TO_DEVICE
#define DTOH SONDE_GPU_DEVICE_TO_HOST
#define DTOD SONDE_GPU_DEVICE_TO_DEVICE

#define WAITS cl_uint count, const cl_event *waits, cl_event *event
#define PASS_WAITS count, waits, w.event

static int64_t volume(const size_t *region)
{
	size_t bytes = 0;
	if (!region || __builtin_mul_overflow(region[0], region[1], &bytes) ||
			__builtin_mul_overflow(bytes, region[2], &bytes) || bytes > INT64_MAX)
		return NONE;
	return (int64_t)bytes;
}

static int64_t image_bytes(cl_mem image, const size_t *region)
{
	size_t element = 0;
	int64_t pixels = volume(region), bytes;
	if (pixels == NONE ||
			opencl_next.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(element), &element, NULL) ||
			__builtin_mul_overflow(pixels, (int64_t)element, &bytes))
		return NONE;
	return bytes;
}

static int64_t sum_of(cl_uint count, const cl_mem *memory)
{
	int64_t sum = 0;
	for (cl_uint i = 0; memory && i < count; i++) {
		size_t bytes = 0;
		if (opencl_next.clGetMemObjectInfo(memory[i], CL_MEM_SIZE, sizeof(bytes), &bytes, NULL))
			return NONE;
		sum += (int64_t)bytes;
	}
	return sum;
}

static int64_t items_of(cl_uint dimensions, const size_t *global)
{
	size_t items = 1;
	for (cl_uint i = 0; global && i < dimensions; i++)
		if (__builtin_mul_overflow(items, global[i], &items))
			return NONE;
	return global && items <= INT64_MAX ? (int64_t)items : NONE;
}

/* The real call, recorded. An expensive value of `what` is computed only for recorded queues. */
#define UNPACK(...) __VA_ARGS__
#define COMMAND(entry, parameters, arguments, ...) \
	static cl_int CL_API_CALL our_##entry(UNPACK parameters, WAITS) \
	{ \
		struct opencl_watch w; \
		opencl_begin(&w, queue, event); \
		cl_int status = opencl_next.entry(UNPACK arguments, PASS_WAITS); \
		return opencl_end(&w, status, w.is_watched ? &(struct opencl_what){ __VA_ARGS__ } : NULL); \
	}
#include "tracer/gpu/opencl-commands.def"

/* Mappings: the result is an address, the status is stored. */

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem memory, cl_bool is_blocking, cl_map_flags flags,
		size_t offset, size_t bytes, WAITS, cl_int *error)
{
	struct opencl_watch w;
	cl_int status = CL_SUCCESS;
	opencl_begin(&w, queue, event);
	void *at = opencl_next.clEnqueueMapBuffer(queue, memory, is_blocking, flags, offset, bytes, PASS_WAITS,
			&status);
	opencl_end(&w, status,
			&(struct opencl_what){ SONDE_GPU_MAP, SONDE_GPU_NOWHERE, "map buffer", NULL, (int64_t)bytes,
					NONE, is_blocking != 0 });
	if (error)
		*error = status;
	return at;
}

static void *CL_API_CALL map_image(cl_command_queue queue, cl_mem image, cl_bool is_blocking, cl_map_flags flags,
		const size_t *origin, const size_t *region, size_t *row, size_t *slice, WAITS, cl_int *error)
{
	struct opencl_watch w;
	cl_int status = CL_SUCCESS;
	opencl_begin(&w, queue, event);
	void *at = opencl_next.clEnqueueMapImage(queue, image, is_blocking, flags, origin, region, row, slice,
			PASS_WAITS, &status);
	opencl_end(&w, status,
			&(struct opencl_what){ SONDE_GPU_MAP, SONDE_GPU_NOWHERE, "map image", NULL,
					status ? NONE : image_bytes(image, region), NONE, is_blocking != 0 });
	if (error)
		*error = status;
	return at;
}

/* One function per entry, since each entry has a type of its own: replace it by ours if it exists. */
#define REPLACE(entry, ours) \
	static void replace_##entry(cl_icd_dispatch *t) \
	{ \
		if (opencl_next.entry) \
			t->entry = ours; \
	}
#undef COMMAND
#define COMMAND(entry, ...) REPLACE(entry, our_##entry)
#include "tracer/gpu/opencl-commands.def"
REPLACE(clEnqueueMapBuffer, map_buffer)
REPLACE(clEnqueueMapImage, map_image)

void opencl_watch_commands(cl_icd_dispatch *t)
{
#undef COMMAND
#define COMMAND(entry, ...) replace_##entry(t);
#include "tracer/gpu/opencl-commands.def"
	replace_clEnqueueMapBuffer(t);
	replace_clEnqueueMapImage(t);
}
