#include "probe/syscall/btf.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <string.h>

#define FILE_MAX ((size_t)64 << 20)

/* Bytes after a type, by its kind. */
static size_t tail_bytes(uint32_t kind, uint32_t count)
{
	switch (kind) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return count * (size_t)8;
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return count * (size_t)12;
	default:
		return 0;
	}
}

static void look_at(const struct btf_type *t, const char *texts, size_t text_bytes, struct btf_place *p)
{
	const struct btf_member *m = (const void *)(t + 1);
	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++) {
		uint32_t bits = BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;
		if (m[i].name_off < text_bytes && !strcmp(texts + m[i].name_off, p->member))
			p->offset = (int32_t)(bits / 8);
	}
}

static void walk(const char *at, size_t bytes, const char *texts, size_t text_bytes, struct btf_place *places,
		size_t count)
{
	while (bytes >= sizeof(struct btf_type)) {
		const struct btf_type *t = (const void *)at;
		uint32_t kind = BTF_INFO_KIND(t->info);
		size_t whole = sizeof(*t) + tail_bytes(kind, BTF_INFO_VLEN(t->info));
		if (whole > bytes)
			return;
		for (size_t i = 0; kind == BTF_KIND_STRUCT && t->name_off < text_bytes && i < count; i++)
			if (!strcmp(texts + t->name_off, places[i].type))
				look_at(t, texts, text_bytes, &places[i]);
		at += whole;
		bytes -= whole;
	}
}

void btf_find(struct btf_place *places, size_t count)
{
	CLEANUP(buf_release) struct buf file = BUF_INIT;
	struct btf_header h;
	for (size_t i = 0; i < count; i++)
		places[i].offset = -1;
	if (fs_read_file(AT_FDCWD, "/sys/kernel/btf/vmlinux", FILE_MAX, &file, NULL) || file.len < sizeof(h))
		return;
	memcpy(&h, file.data, sizeof(h));
	size_t types = (size_t)h.hdr_len + h.type_off, texts = (size_t)h.hdr_len + h.str_off;
	if (h.magic != BTF_MAGIC || types > file.len || h.type_len > file.len - types || texts > file.len ||
			h.str_len > file.len - texts || !h.str_len || file.data[texts + h.str_len - 1])
		return;
	walk(file.data + types, h.type_len, file.data + texts, h.str_len, places, count);
}
