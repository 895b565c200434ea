/*
 * Wrappers of the OpenCL commands: description, real call, and its event, kept until the command has completed. A new
 * one is a function here and a row at the end.
 */
#include "tracer/gpu/opencl.h"

#define NONE SONDE_NONE
#define HTOD SONDE_GPU_HOST_TO_DEVICE
#define DTOH SONDE_GPU_DEVICE_TO_HOST
#define DTOD SONDE_GPU_DEVICE_TO_DEVICE

#define WAITS cl_uint count, const cl_event *waits, cl_event *event
#define PASS_WAITS count, waits, w.event

/* The real call, recorded. An expensive value of `what` is computed only for recorded queues. */
#define WATCHED(call, ...) \
	do { \
		struct opencl_watch w; \
		opencl_begin(&w, queue, event); \
		return opencl_end(&w, opencl_next.call, w.is_watched ? &(struct opencl_what){ __VA_ARGS__ } : NULL); \
	} while (0)

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

/* Buffers. */

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem from, cl_bool is_blocking, size_t offset,
		size_t bytes, void *to, WAITS)
{
	WATCHED(clEnqueueReadBuffer(queue, from, is_blocking, offset, bytes, to, PASS_WAITS), SONDE_GPU_COPY, DTOH,
			"read buffer", NULL, (int64_t)bytes, NONE, is_blocking != 0);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem to, cl_bool is_blocking, size_t offset,
		size_t bytes, const void *from, WAITS)
{
	WATCHED(clEnqueueWriteBuffer(queue, to, is_blocking, offset, bytes, from, PASS_WAITS), SONDE_GPU_COPY, HTOD,
			"write buffer", NULL, (int64_t)bytes, NONE, is_blocking != 0);
}

static cl_int CL_API_CALL read_rect(cl_command_queue queue, cl_mem from, cl_bool is_blocking, const size_t *buffer,
		const size_t *host, const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
		void *to, WAITS)
{
	WATCHED(clEnqueueReadBufferRect(queue, from, is_blocking, buffer, host, region, row, slice, host_row,
				host_slice, to, PASS_WAITS),
			SONDE_GPU_COPY, DTOH, "read rectangle", NULL, volume(region), NONE, is_blocking != 0);
}

static cl_int CL_API_CALL write_rect(cl_command_queue queue, cl_mem to, cl_bool is_blocking, const size_t *buffer,
		const size_t *host, const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
		const void *from, WAITS)
{
	WATCHED(clEnqueueWriteBufferRect(queue, to, is_blocking, buffer, host, region, row, slice, host_row, host_slice,
				from, PASS_WAITS),
			SONDE_GPU_COPY, HTOD, "write rectangle", NULL, volume(region), NONE, is_blocking != 0);
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at,
		size_t bytes, WAITS)
{
	WATCHED(clEnqueueCopyBuffer(queue, from, to, from_at, to_at, bytes, PASS_WAITS), SONDE_GPU_COPY, DTOD,
			"copy buffer", NULL, (int64_t)bytes, NONE, false);
}

static cl_int CL_API_CALL copy_rect(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_at,
		const size_t *to_at, const size_t *region, size_t from_row, size_t from_slice, size_t to_row,
		size_t to_slice, WAITS)
{
	WATCHED(clEnqueueCopyBufferRect(queue, from, to, from_at, to_at, region, from_row, from_slice, to_row, to_slice,
				PASS_WAITS),
			SONDE_GPU_COPY, DTOD, "copy rectangle", NULL, volume(region), NONE, false);
}

static cl_int CL_API_CALL fill_buffer(cl_command_queue queue, cl_mem to, const void *pattern, size_t pattern_bytes,
		size_t offset, size_t bytes, WAITS)
{
	WATCHED(clEnqueueFillBuffer(queue, to, pattern, pattern_bytes, offset, bytes, PASS_WAITS), SONDE_GPU_FILL,
			SONDE_GPU_NOWHERE, "fill buffer", NULL, (int64_t)bytes, NONE, false);
}

static cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint memories, const cl_mem *memory,
		cl_mem_migration_flags flags, WAITS)
{
	WATCHED(clEnqueueMigrateMemObjects(queue, memories, memory, flags, PASS_WAITS), SONDE_GPU_COPY,
			flags & CL_MIGRATE_MEM_OBJECT_HOST ? DTOH : HTOD, "migrate", NULL, sum_of(memories, memory),
			NONE, false);
}

/* Images. */

static cl_int CL_API_CALL read_image(cl_command_queue queue, cl_mem from, cl_bool is_blocking, const size_t *origin,
		const size_t *region, size_t row, size_t slice, void *to, WAITS)
{
	WATCHED(clEnqueueReadImage(queue, from, is_blocking, origin, region, row, slice, to, PASS_WAITS),
			SONDE_GPU_COPY, DTOH, "read image", NULL, image_bytes(from, region), NONE, is_blocking != 0);
}

static cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem to, cl_bool is_blocking, const size_t *origin,
		const size_t *region, size_t row, size_t slice, const void *from, WAITS)
{
	WATCHED(clEnqueueWriteImage(queue, to, is_blocking, origin, region, row, slice, from, PASS_WAITS),
			SONDE_GPU_COPY, HTOD, "write image", NULL, image_bytes(to, region), NONE, is_blocking != 0);
}

static cl_int CL_API_CALL copy_image(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_at,
		const size_t *to_at, const size_t *region, WAITS)
{
	WATCHED(clEnqueueCopyImage(queue, from, to, from_at, to_at, region, PASS_WAITS), SONDE_GPU_COPY, DTOD,
			"copy image", NULL, image_bytes(from, region), NONE, false);
}

static cl_int CL_API_CALL image_to_buffer(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin,
		const size_t *region, size_t offset, WAITS)
{
	WATCHED(clEnqueueCopyImageToBuffer(queue, from, to, origin, region, offset, PASS_WAITS), SONDE_GPU_COPY, DTOD,
			"copy image to buffer", NULL, image_bytes(from, region), NONE, false);
}

static cl_int CL_API_CALL buffer_to_image(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset,
		const size_t *origin, const size_t *region, WAITS)
{
	WATCHED(clEnqueueCopyBufferToImage(queue, from, to, offset, origin, region, PASS_WAITS), SONDE_GPU_COPY, DTOD,
			"copy buffer to image", NULL, image_bytes(to, region), NONE, false);
}

static cl_int CL_API_CALL fill_image(cl_command_queue queue, cl_mem to, const void *colour, const size_t *origin,
		const size_t *region, WAITS)
{
	WATCHED(clEnqueueFillImage(queue, to, colour, origin, region, PASS_WAITS), SONDE_GPU_FILL, SONDE_GPU_NOWHERE,
			"fill image", NULL, image_bytes(to, region), NONE, false);
}

/* Mappings. */

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

static cl_int CL_API_CALL unmap(cl_command_queue queue, cl_mem memory, void *at, WAITS)
{
	WATCHED(clEnqueueUnmapMemObject(queue, memory, at, PASS_WAITS), SONDE_GPU_UNMAP, SONDE_GPU_NOWHERE, "unmap",
			NULL, NONE, NONE, false);
}

/* Kernels. */

static cl_int CL_API_CALL range_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
		const size_t *offset, const size_t *global, const size_t *local, WAITS)
{
	WATCHED(clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, PASS_WAITS), SONDE_GPU_KERNEL,
			SONDE_GPU_NOWHERE, NULL, kernel, NONE, items_of(dimensions, global), false);
}

static cl_int CL_API_CALL task(cl_command_queue queue, cl_kernel kernel, WAITS)
{
	WATCHED(clEnqueueTask(queue, kernel, PASS_WAITS), SONDE_GPU_KERNEL, SONDE_GPU_NOWHERE, NULL, kernel, NONE, 1,
			false);
}

static cl_int CL_API_CALL native_kernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *), void *arguments,
		size_t bytes, cl_uint memories, const cl_mem *memory, const void **places, WAITS)
{
	WATCHED(clEnqueueNativeKernel(queue, function, arguments, bytes, memories, memory, places, PASS_WAITS),
			SONDE_GPU_KERNEL, SONDE_GPU_NOWHERE, "native kernel", NULL, NONE, 1, false);
}

static cl_int CL_API_CALL marker(cl_command_queue queue, WAITS)
{
	WATCHED(clEnqueueMarkerWithWaitList(queue, PASS_WAITS), SONDE_GPU_WAIT, SONDE_GPU_NOWHERE, "marker", NULL, NONE,
			NONE, false);
}

static cl_int CL_API_CALL barrier(cl_command_queue queue, WAITS)
{
	WATCHED(clEnqueueBarrierWithWaitList(queue, PASS_WAITS), SONDE_GPU_WAIT, SONDE_GPU_NOWHERE, "barrier", NULL,
			NONE, NONE, false);
}

/* Shared virtual memory: the direction of a transfer is unknown. */

static cl_int CL_API_CALL svm_copy(cl_command_queue queue, cl_bool is_blocking, void *to, const void *from,
		size_t bytes, WAITS)
{
	WATCHED(clEnqueueSVMMemcpy(queue, is_blocking, to, from, bytes, PASS_WAITS), SONDE_GPU_COPY, SONDE_GPU_NOWHERE,
			"copy shared memory", NULL, (int64_t)bytes, NONE, is_blocking != 0);
}

static cl_int CL_API_CALL svm_fill(cl_command_queue queue, void *to, const void *pattern, size_t pattern_bytes,
		size_t bytes, WAITS)
{
	WATCHED(clEnqueueSVMMemFill(queue, to, pattern, pattern_bytes, bytes, PASS_WAITS), SONDE_GPU_FILL,
			SONDE_GPU_NOWHERE, "fill shared memory", NULL, (int64_t)bytes, NONE, false);
}

static cl_int CL_API_CALL svm_map(cl_command_queue queue, cl_bool is_blocking, cl_map_flags flags, void *at,
		size_t bytes, WAITS)
{
	WATCHED(clEnqueueSVMMap(queue, is_blocking, flags, at, bytes, PASS_WAITS), SONDE_GPU_MAP, SONDE_GPU_NOWHERE,
			"map shared memory", NULL, (int64_t)bytes, NONE, is_blocking != 0);
}

static cl_int CL_API_CALL svm_unmap(cl_command_queue queue, void *at, WAITS)
{
	WATCHED(clEnqueueSVMUnmap(queue, at, PASS_WAITS), SONDE_GPU_UNMAP, SONDE_GPU_NOWHERE, "unmap shared memory",
			NULL, NONE, NONE, false);
}

/* Replace the existing entries by ours. */
void opencl_watch_commands(cl_icd_dispatch *t)
{
#define OVER(entry, ours) \
	if (opencl_next.entry) \
	t->entry = ours
	OVER(clEnqueueReadBuffer, read_buffer);
	OVER(clEnqueueWriteBuffer, write_buffer);
	OVER(clEnqueueReadBufferRect, read_rect);
	OVER(clEnqueueWriteBufferRect, write_rect);
	OVER(clEnqueueCopyBuffer, copy_buffer);
	OVER(clEnqueueCopyBufferRect, copy_rect);
	OVER(clEnqueueFillBuffer, fill_buffer);
	OVER(clEnqueueMigrateMemObjects, migrate);
	OVER(clEnqueueReadImage, read_image);
	OVER(clEnqueueWriteImage, write_image);
	OVER(clEnqueueCopyImage, copy_image);
	OVER(clEnqueueCopyImageToBuffer, image_to_buffer);
	OVER(clEnqueueCopyBufferToImage, buffer_to_image);
	OVER(clEnqueueFillImage, fill_image);
	OVER(clEnqueueMapBuffer, map_buffer);
	OVER(clEnqueueMapImage, map_image);
	OVER(clEnqueueUnmapMemObject, unmap);
	OVER(clEnqueueNDRangeKernel, range_kernel);
	OVER(clEnqueueTask, task);
	OVER(clEnqueueNativeKernel, native_kernel);
	OVER(clEnqueueMarkerWithWaitList, marker);
	OVER(clEnqueueBarrierWithWaitList, barrier);
	OVER(clEnqueueSVMMemcpy, svm_copy);
	OVER(clEnqueueSVMMemFill, svm_fill);
	OVER(clEnqueueSVMMap, svm_map);
	OVER(clEnqueueSVMUnmap, svm_unmap);
}
