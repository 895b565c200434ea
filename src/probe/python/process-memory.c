#include "probe/python/process-memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

void memory_begin(struct memory *m, pid_t pid)
{
	m->pid = pid;
	m->error = 0;
	m->count = m->next = 0;
}

bool memory_get_fresh(struct memory *m, uint64_t address, void *out, size_t n)
{
	struct iovec here = { out, n };
	struct iovec there = { (void *)(uintptr_t)address, n };
	ssize_t got = process_vm_readv(m->pid, &here, 1, &there, 1, 0);
	if (got == (ssize_t)n)
		return true;
	m->error = got < 0 ? errno : EFAULT;
	return false;
}

static const uint8_t *page_at(struct memory *m, uint64_t address)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->addresses[i] == address)
			return m->pages[i];
	size_t slot = m->count < MEMORY_PAGES ? m->count : m->next++ % MEMORY_PAGES;
	m->addresses[slot] = UINT64_MAX;
	if (!memory_get_fresh(m, address, m->pages[slot], MEMORY_PAGE))
		return NULL;
	m->addresses[slot] = address;
	m->count += slot == m->count;
	return m->pages[slot];
}

bool memory_get(struct memory *m, uint64_t address, void *out, size_t n)
{
	for (size_t done = 0; done < n;) {
		uint64_t at = address + done, in = at % MEMORY_PAGE;
		size_t part = n - done < MEMORY_PAGE - in ? n - done : (size_t)(MEMORY_PAGE - in);
		const uint8_t *page = page_at(m, at - in);
		if (!page)
			return false;
		memcpy((uint8_t *)out + done, page + in, part);
		done += part;
	}
	return true;
}

bool memory_get_u64(struct memory *m, uint64_t address, uint64_t *out)
{
	return memory_get(m, address, out, sizeof(*out));
}
