/*
 * nvtx: our own declarations of the parts of NVTX 3 that an injection library needs.
 *
 * NVTX passes a function that returns export tables by number. The callback table returns an array of slots for each
 * module; the program's calls are dispatched to the functions stored in these slots.
 */
#ifndef SONDE_TRACER_GPU_NVTX_H
#define SONDE_TRACER_GPU_NVTX_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_TABLE_CALLBACKS 1u
enum nvtx_module { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

enum nvtx_core {
	NVTX_MARK_EX = 1,
	NVTX_MARK_A,
	NVTX_MARK_W,
	NVTX_START_EX,
	NVTX_START_A,
	NVTX_START_W,
	NVTX_END,
	NVTX_PUSH_EX,
	NVTX_PUSH_A,
	NVTX_PUSH_W,
	NVTX_POP,
};

enum nvtx_core2 {
	NVTX_DOMAIN_MARK = 1,
	NVTX_DOMAIN_START,
	NVTX_DOMAIN_END,
	NVTX_DOMAIN_PUSH,
	NVTX_DOMAIN_POP,
	NVTX_DOMAIN_STRING_A = 10,
	NVTX_DOMAIN_STRING_W,
	NVTX_DOMAIN_CREATE_A,
	NVTX_DOMAIN_CREATE_W,
	NVTX_DOMAIN_DESTROY,
};

#define NVTX_NOT_TRACKED (-2) /* returned by push and pop without a tool */

enum nvtx_message { NVTX_TEXT = 1, NVTX_WIDE = 2, NVTX_REGISTERED = 3 };
enum nvtx_payload { NVTX_UINT64 = 1, NVTX_INT64, NVTX_DOUBLE, NVTX_UINT32, NVTX_INT32, NVTX_FLOAT };

struct nvtx_event { /* version 2 */
	uint16_t version, bytes;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type;
	int32_t reserved;
	union {
		uint64_t u64;
		int64_t i64;
		double real;
		uint32_t u32;
		int32_t i32;
		float single;
	} payload;
	int32_t message_type;
	union {
		const char *text;
		const wchar_t *wide;
		const void *registered;
	} message;
};

typedef void nvtx_function(void);

struct nvtx_callbacks {
	size_t bytes;
	int (*module_places)(enum nvtx_module module, nvtx_function ****places, unsigned *count);
};

typedef const void *nvtx_find_table(uint32_t table);

#endif
