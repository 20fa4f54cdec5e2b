/* guest.h: the only way into guest memory. A guest_ptr cannot be followed; it
 * becomes bytes through guest_at, which knows where the memory ends.
 * Hostile input: every pointer and length comes from the guest.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WASM_GUEST_H
#define WASM_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct guest_ptr {
	uint32_t off;
};

/* The guest's linear memory as it is now; it may grow between imports. */
struct guest_mem {
	uint8_t *base;
	uint64_t size;
};

static inline struct guest_ptr
guest_ptr_of(uint64_t slot)
{
	return (struct guest_ptr){ (uint32_t)slot };
}

/* The pointer n bytes further. An end past 4 GiB becomes the last address,
 * where no two bytes fit, so that it cannot wrap to the front. */
static inline struct guest_ptr
guest_ptr_add(struct guest_ptr ptr, uint64_t n)
{
	uint64_t off = (uint64_t)ptr.off + n;

	return (struct guest_ptr){
		off < n || off > UINT32_MAX ? UINT32_MAX : (uint32_t)off
	};
}

/* The n bytes at ptr, or NULL if any of them is outside the memory. No bytes
 * at a place inside or at the end of the memory are fine. */
static inline uint8_t *
guest_at(const struct guest_mem *mem, struct guest_ptr ptr, uint64_t n)
{
	if (ptr.off > mem->size || n > mem->size - ptr.off)
		return NULL;
	return mem->base + ptr.off;
}

/* Typed loads: false and an untouched value if out of range. */
static inline bool
guest_get(const struct guest_mem *mem, struct guest_ptr ptr, void *ret_value,
    size_t n)
{
	const uint8_t *at = guest_at(mem, ptr, n);

	if (!at)
		return false;
	memcpy(ret_value, at, n);
	return true;
}

/* Typed stores: false and nothing written if out of range. */
static inline bool
guest_put(const struct guest_mem *mem, struct guest_ptr ptr, const void *value,
    size_t n)
{
	uint8_t *at = guest_at(mem, ptr, n);

	if (!at)
		return false;
	memcpy(at, value, n);
	return true;
}

static inline bool
guest_get_u32(
    const struct guest_mem *mem, struct guest_ptr ptr, uint32_t *ret_value)
{
	return guest_get(mem, ptr, ret_value, sizeof(*ret_value));
}

static inline bool
guest_put_u32(const struct guest_mem *mem, struct guest_ptr ptr, uint32_t value)
{
	return guest_put(mem, ptr, &value, sizeof(value));
}

static inline bool
guest_put_u64(const struct guest_mem *mem, struct guest_ptr ptr, uint64_t value)
{
	return guest_put(mem, ptr, &value, sizeof(value));
}

/* Fields of a record of ours on its way to the guest, or of a copy of one. */
static inline void
record_put_u16(uint8_t *record, size_t at, uint16_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

static inline void
record_put_u32(uint8_t *record, size_t at, uint32_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

static inline void
record_put_u64(uint8_t *record, size_t at, uint64_t value)
{
	memcpy(record + at, &value, sizeof(value));
}

static inline uint16_t
record_get_u16(const uint8_t *record, size_t at)
{
	uint16_t value;

	memcpy(&value, record + at, sizeof(value));
	return value;
}

static inline uint32_t
record_get_u32(const uint8_t *record, size_t at)
{
	uint32_t value;

	memcpy(&value, record + at, sizeof(value));
	return value;
}

static inline uint64_t
record_get_u64(const uint8_t *record, size_t at)
{
	uint64_t value;

	memcpy(&value, record + at, sizeof(value));
	return value;
}

/* wasm is little-endian; so is every machine we run on. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "guest records are copied without swapping");

#endif
