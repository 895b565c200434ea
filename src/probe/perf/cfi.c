/* Finds the entries of .eh_frame; see cfi.h. Their rules are executed in cfi-run.c. */
#include "probe/perf/cfi-private.h"

#include <stdlib.h>

/* Pointer encodings of .eh_frame (DW_EH_PE_). */
enum { PE_ABS = 0, PE_ULEB = 1, PE_U2 = 2, PE_U4 = 3, PE_U8 = 4, PE_SLEB = 9, PE_S2 = 10, PE_S4 = 11, PE_S8 = 12 };
enum { PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_OMIT = 0xff };

uint64_t cfi_pointer(struct cursor *c, uint8_t encoding, uint64_t here, uint64_t data)
{
	uint64_t v = 0;
	if (encoding == PE_OMIT)
		return 0;
	switch (encoding & 0x0f) {
	case PE_ABS:
	case PE_U8:
	case PE_S8:
		v = cursor_u64(c);
		break;
	case PE_ULEB:
		v = cursor_uleb(c);
		break;
	case PE_SLEB:
		v = (uint64_t)cursor_sleb(c);
		break;
	case PE_U2:
		v = cursor_u16(c);
		break;
	case PE_S2:
		v = (uint64_t)(int64_t)(int16_t)cursor_u16(c);
		break;
	case PE_U4:
		v = cursor_u32(c);
		break;
	case PE_S4:
		v = (uint64_t)(int64_t)(int32_t)cursor_u32(c);
		break;
	default:
		c->is_bad = true;
	}
	switch (encoding & 0x70) {
	case 0:
		return v;
	case PE_PCREL:
		return v + here;
	case PE_DATAREL:
		return v + data;
	default:
		c->is_bad = true;
		return 0;
	}
}

uint64_t cfi_address_of(const struct cfi *c, const uint8_t *at)
{
	return c->frame_address + (uint64_t)(at - c->frame);
}

/* Reads the body of the entry at `offset`; *id is the position of its id field. */
static bool take_entry(const struct cfi *c, uint64_t offset, struct cursor *body, const uint8_t **id, uint32_t *value)
{
	if (offset >= c->frame_bytes)
		return false;
	struct cursor at = { .at = c->frame + offset, .end = c->frame + c->frame_bytes };
	uint64_t bytes = cursor_u32(&at);
	if (bytes == 0xffffffff)
		bytes = cursor_u64(&at);
	if (at.is_bad || bytes < 4 || bytes > cursor_left(&at))
		return false;
	*body = (struct cursor){ .at = at.at, .end = at.at + bytes };
	*id = body->at;
	*value = cursor_u32(body);
	return true;
}

static void take_augmentation(const struct cfi *c, struct cie *cie, const char *words, struct cursor *at)
{
	struct cursor data = { .at = at->at, .end = at->end };
	uint64_t bytes = cursor_uleb(&data);
	*at = data;
	cursor_skip(at, bytes);
	cie->has_augmentation = true;
	for (const char *w = words + 1; *w; w++) {
		uint8_t encoding;
		switch (*w) {
		case 'R':
			cie->pointer_encoding = cursor_u8(&data);
			break;
		case 'L':
			cursor_u8(&data);
			break;
		case 'P':
			encoding = cursor_u8(&data);
			cfi_pointer(&data, encoding, cfi_address_of(c, data.at), 0);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		default:
			return; /* the length field lets us skip unknown augmentations */
		}
	}
}

static bool take_cie(const struct cfi *c, uint64_t offset, struct cie *cie)
{
	struct cursor at;
	const uint8_t *id;
	uint32_t value;
	if (!take_entry(c, offset, &at, &id, &value) || value != 0)
		return false;
	uint8_t version = cursor_u8(&at);
	const char *words = (const char *)at.at;
	while (!at.is_bad && cursor_u8(&at))
		;
	if (at.is_bad || (version != 1 && version != 3) || (words[0] && words[0] != 'z'))
		return false;
	*cie = (struct cie){ .code_align = cursor_uleb(&at) };
	cie->data_align = cursor_sleb(&at);
	uint64_t ra = version == 1 ? cursor_u8(&at) : cursor_uleb(&at);
	if (words[0] == 'z')
		take_augmentation(c, cie, words, &at);
	cie->program = at;
	return !at.is_bad && ra == CFI_RA;
}

static int by_start(const void *a, const void *b)
{
	const struct cfi_entry *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

/* Reads the start address of the entry at `offset`; false for a CIE. *next: offset of the next entry. */
static bool entry_start(const struct cfi *c, uint64_t offset, uint64_t *start, uint64_t *next)
{
	struct cursor at;
	struct cie cie;
	const uint8_t *id;
	uint32_t back;
	if (!take_entry(c, offset, &at, &id, &back))
		return false;
	*next = (uint64_t)(at.end - c->frame);
	*start = 0;
	if (back && back <= (uint64_t)(id - c->frame) && take_cie(c, (uint64_t)(id - c->frame) - back, &cie))
		*start = cfi_pointer(&at, cie.pointer_encoding, cfi_address_of(c, at.at), 0);
	return !at.is_bad;
}

bool cfi_index(struct cfi *c)
{
	size_t cap = 0;
	for (uint64_t offset = 0, next, start; entry_start(c, offset, &start, &next); offset = next) {
		if (!start)
			continue;
		if (c->entry_count == cap) {
			cap = cap ? 2 * cap : 1024;
			struct cfi_entry *more = realloc(c->entries, cap * sizeof(*more));
			if (!more)
				break;
			c->entries = more;
		}
		c->entries[c->entry_count++] = (struct cfi_entry){ start, offset };
	}
	if (c->entry_count)
		qsort(c->entries, c->entry_count, sizeof(*c->entries), by_start);
	return c->entry_count > 0;
}

static bool search_entries(const struct cfi *c, uint64_t address, uint64_t *offset)
{
	size_t low = 0, high = c->entry_count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (c->entries[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low)
		*offset = c->entries[low - 1].offset;
	return low > 0;
}

/* The header's table: (start address, entry), sorted, both relative to the header. */
static bool find_entry(const struct cfi *c, uint64_t address, uint64_t *offset)
{
	if (c->entries)
		return search_entries(c, address, offset);
	struct cursor h = { .at = c->hdr, .end = c->hdr + c->hdr_bytes };
	uint8_t version = cursor_u8(&h), frame = cursor_u8(&h), count_encoding = cursor_u8(&h), table = cursor_u8(&h);
	cfi_pointer(&h, frame, 0, 0);
	uint64_t count = cfi_pointer(&h, count_encoding, 0, 0), low = 0, high = count;
	if (h.is_bad || version != 1 || table != (PE_DATAREL | PE_S4) || !count || count > cursor_left(&h) / 8)
		return false;
	int64_t wanted = (int64_t)(address - c->hdr_address);
	while (low < high) {
		uint64_t mid = (low + high) / 2;
		int32_t start;
		memcpy(&start, h.at + 8 * mid, sizeof(start));
		if (start <= wanted)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	int32_t entry;
	memcpy(&entry, h.at + 8 * (low - 1) + 4, sizeof(entry));
	*offset = c->hdr_address + (uint64_t)(int64_t)entry - c->frame_address;
	return true;
}

bool cfi_find(const struct cfi *c, uint64_t address, struct cfi_row *row)
{
	struct cursor at;
	struct cie cie;
	const uint8_t *id;
	uint64_t offset;
	uint32_t back;
	if (!find_entry(c, address, &offset) || !take_entry(c, offset, &at, &id, &back) || !back ||
			back > (uint64_t)(id - c->frame) || !take_cie(c, (uint64_t)(id - c->frame) - back, &cie))
		return false;
	uint64_t start = cfi_pointer(&at, cie.pointer_encoding, cfi_address_of(c, at.at), c->hdr_address);
	uint64_t bytes = cfi_pointer(&at, cie.pointer_encoding & 0x0f, 0, 0);
	if (cie.has_augmentation)
		cursor_skip(&at, cursor_uleb(&at));
	if (at.is_bad || address < start || address - start >= bytes)
		return false;
	return cfi_run(c, &cie, at, start, address, row);
}
