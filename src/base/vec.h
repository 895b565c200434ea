/*
 * vec: growth of arrays that are a pointer, a count and a capacity in any struct.
 *
 *	if (!VEC_GROW(list->items, list->cap, list->count + 1, ITEMS_MAX))
 *		return -ENOMEM;
 *	list->items[list->count++] = item;
 *
 * The array starts as NULL with capacity 0 and is freed with free(). Every array has a maximum: a traced program or a
 * file must not be able to fill the memory. On failure array, capacity and elements are unchanged.
 */
#ifndef SONDE_BASE_VEC_H
#define SONDE_BASE_VEC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define VEC_MAX (PTRDIFF_MAX / 4096) /* for arrays that another limit bounds already */

/*
 * Makes room for `need` elements; `cap` is a size_t lvalue. The new elements are not initialized. Returns false if
 * `need` exceeds `max` or memory is exhausted.
 */
#define VEC_GROW(array, cap, need, max) \
	({ \
		void *grown_ = vec_grow(array, &(cap), sizeof(*(array)), need, max); \
		if (grown_) \
			(array) = grown_; \
		grown_ != NULL; \
	})

/* Doubles the capacity, so that appending costs amortized constant time. Returns the array, moved or not, or NULL. */
static inline void *vec_grow(void *array, size_t *cap, size_t size, size_t need, size_t max)
{
	size_t more = *cap <= max / 2 ? 2 * *cap : max;
	void *grown;

	if (need > max)
		return NULL;
	if (array && need <= *cap)
		return array;
	if (more < 16)
		more = max < 16 ? max : 16;
	if (more < need)
		more = need;
	grown = reallocarray(array, more ? more : 1, size);
	if (grown)
		*cap = more;
	return grown;
}

#endif
