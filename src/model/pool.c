#include "model/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 1024u

void pool_init(struct pool *p, const struct store_schema *schema, size_t cap, size_t text_bytes_max)
{
	*p = (struct pool){ .schema = schema,
		.cap = cap,
		.slot_words = schema->count,
		.text_bytes_max = text_bytes_max };
	for (unsigned c = 0; c < schema->count; c++)
		p->slot_words += schema->columns[c].kind == STORE_TEXT;
	buf_init(&p->texts, 0);
}

void pool_release(struct pool *p)
{
	free(p->keys);
	free(p->spare);
	free(p->slots);
	buf_release(&p->texts);
}

bool pool_is_full(const struct pool *p)
{
	return p->count == p->cap || (p->count > 1 && p->texts.len > p->text_bytes_max);
}

static int grow(struct pool *p)
{
	size_t made = p->made ? 2 * p->made : SLOTS_MIN;
	struct pool_key *keys, *spare;
	int64_t *slots;

	made = made < p->cap ? made : p->cap;
	if ((keys = reallocarray(p->keys, made, sizeof(*keys))))
		p->keys = keys;
	if ((spare = reallocarray(p->spare, made, sizeof(*spare))))
		p->spare = spare;
	if ((slots = reallocarray(p->slots, made, p->slot_words * sizeof(*slots))))
		p->slots = slots;
	if (!keys || !spare || !slots)
		return -ENOMEM;
	for (; p->made < made; p->made++)
		p->keys[p->made].slot = p->made;
	return 0;
}

/* The word of a text column is the text's offset in the buffer, STORE_NULL for null; the lengths come last. */
static void copy_row(struct pool *p, int64_t *slot, const struct store_batch *batch, size_t i)
{
	int64_t *length = slot + p->schema->count;

	for (unsigned c = 0; c < p->schema->count; c++) {
		const struct store_column *column = &batch->columns[c];

		if (column->ints) {
			slot[c] = column->ints[i];
		} else if (column->reals) {
			memcpy(&slot[c], &column->reals[i], sizeof(*slot));
		} else {
			const struct store_text *text = &column->texts[i];

			slot[c] = text->data ? (int64_t)p->texts.len : STORE_NULL;
			*length++ = (int64_t)text->bytes;
			buf_add(&p->texts, text->data, text->data ? text->bytes : 0);
		}
	}
}

int pool_add(struct pool *p, const struct pool_key *key, const struct store_batch *batch, size_t i)
{
	uint64_t slot;

	if (p->count == p->made && grow(p) < 0)
		return -ENOMEM;
	slot = p->keys[p->count].slot;
	copy_row(p, p->slots + slot * p->slot_words, batch, i);
	p->keys[p->count] = *key;
	p->keys[p->count++].slot = slot;
	return buf_error(&p->texts);
}

int pool_compare(const struct pool_key *a, const struct pool_key *b)
{
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->then != b->then)
		return a->then < b->then ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* End of the sorted sequence that starts at `from`. */
static size_t stretch(const struct pool_key *keys, size_t from, size_t count)
{
	size_t end = from + 1;

	while (end < count && pool_compare(&keys[end - 1], &keys[end]) <= 0)
		end++;
	return end < count ? end : count;
}

static void merge(const struct pool_key *keys, size_t from, size_t middle, size_t end, struct pool_key *out)
{
	size_t left = from, right = middle;

	for (size_t i = from; i < end; i++) {
		bool is_left = left < middle && (right == end || pool_compare(&keys[left], &keys[right]) <= 0);

		out[i] = keys[is_left ? left++ : right++];
	}
}

/* Natural merge sort: merge neighbouring sorted sequences until one is left; the input has few and long ones. */
static void sort_from(struct pool *p, size_t from)
{
	while (from < p->count && stretch(p->keys, from, p->count) < p->count) {
		for (size_t at = from, end; at < p->count; at = end) {
			size_t middle = stretch(p->keys, at, p->count);

			end = middle < p->count ? stretch(p->keys, middle, p->count) : middle;
			merge(p->keys, at, middle, end, p->spare);
		}
		memcpy(p->keys + from, p->spare + from, (p->count - from) * sizeof(*p->keys));
	}
}

/* The first of keys[0..count) that is after key. */
static size_t place_of(const struct pool_key *keys, size_t count, const struct pool_key *key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pool_compare(&keys[middle], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void pool_sort(struct pool *p)
{
	size_t from;

	if (p->sorted == p->count)
		return;
	sort_from(p, p->sorted);
	from = place_of(p->keys, p->sorted, &p->keys[p->sorted]);
	if (from < p->sorted) {
		merge(p->keys, from, p->sorted, p->count, p->spare);
		memcpy(p->keys + from, p->spare + from, (p->count - from) * sizeof(*p->keys));
	}
	p->sorted = p->count;
}

size_t pool_count_before(const struct pool *p, const struct pool_key *key)
{
	size_t n = place_of(p->keys, p->count, key);

	return n > 0 && pool_compare(&p->keys[n - 1], key) == 0 ? n - 1 : n;
}

/* Texts of dropped rows stay in the buffer; compact it once they are more than half. */
static int compact(struct pool *p)
{
	struct buf texts;

	if (p->texts.len <= p->text_bytes_max / 2)
		return 0;
	buf_init(&texts, 0);
	for (size_t k = 0; k < p->count; k++) {
		int64_t *slot = p->slots + p->keys[k].slot * p->slot_words, *length = slot + p->schema->count;

		for (unsigned c = 0; c < p->schema->count; c++) {
			int64_t at = slot[c];

			if (p->schema->columns[c].kind != STORE_TEXT)
				continue;
			if (at != STORE_NULL) {
				slot[c] = (int64_t)texts.len;
				buf_add(&texts, p->texts.data + at, (size_t)*length);
			}
			length++;
		}
	}
	buf_release(&p->texts);
	p->texts = texts;
	return buf_error(&texts);
}

int pool_drop_last(struct pool *p, size_t from)
{
	p->count = p->sorted = from;
	return compact(p);
}

int pool_drop_first(struct pool *p, size_t n)
{
	struct pool_key *keys = p->keys;

	if (n == 0)
		return 0;
	memcpy(p->spare, keys + n, (p->count - n) * sizeof(*keys));
	memcpy(p->spare + p->count - n, keys, n * sizeof(*keys));
	memcpy(p->spare + p->count, keys + p->count, (p->made - p->count) * sizeof(*keys));
	p->keys = p->spare;
	p->spare = keys;
	p->count = p->sorted -= n;
	return compact(p);
}

const void *pool_row(struct pool *p, size_t i)
{
	const int64_t *slot = p->slots + p->keys[i].slot * p->slot_words, *length = slot + p->schema->count;

	memcpy(p->shown, slot, p->schema->count * sizeof(*slot));
	for (unsigned c = 0; c < p->schema->count; c++) {
		const struct store_text *text = slot[c] == STORE_NULL ? NULL : &p->text[c];

		if (p->schema->columns[c].kind != STORE_TEXT)
			continue;
		if (text)
			p->text[c] = (struct store_text){ .data = p->texts.data + slot[c], .bytes = (size_t)*length };
		memcpy(&p->shown[c], &text, sizeof(text));
		length++;
	}
	return p->shown;
}
