/*
 * The hooks of barewire_port.h over one fixed block: first fit in order of address, neighbours joined, blocks grown in
 * place where there is room behind them. Positions are 32-bit offsets, so that a header costs four bytes everywhere.
 */
#include "arena.h"

#include <barewire_port.h>

#include <stdint.h>
#include <string.h>

#define UNIT 8u
#define HEADER 4u
#define NONE UINT32_MAX

/* Offsets are those of headers, which lie four bytes behind multiples of eight, so that what follows them is aligned. */
static unsigned char *base;
static uint32_t first;
static size_t live, peak;

static uint32_t word(uint32_t at)
{
    uint32_t value;
    memcpy(&value, base + at, sizeof value);
    return value;
}

static void set_word(uint32_t at, uint32_t value)
{
    memcpy(base + at, &value, sizeof value);
}

/* A free block holds its size and the offset of the next one, a block in use its size. */
static uint32_t size_of(uint32_t block)
{
    return word(block);
}
static uint32_t next_of(uint32_t block)
{
    return word(block + HEADER);
}

static void describe(uint32_t block, uint32_t size, uint32_t next)
{
    set_word(block, size);
    set_word(block + HEADER, next);
}

static void link_behind(uint32_t before, uint32_t next)
{
    if (before == NONE)
        first = next;
    else
        set_word(before + HEADER, next);
}

static void count(size_t more)
{
    live += more;
    if (live > peak)
        peak = live;
}

/* The size of a block for so many bytes; 0 if there is none so long. */
static uint32_t block_for(size_t size)
{
    if (size > UINT32_MAX - HEADER - UNIT)
        return 0;
    return ((uint32_t)size + HEADER + UNIT - 1) / UNIT * UNIT;
}

void arena_begin(void *memory, size_t size)
{
    uintptr_t start = ((uintptr_t)memory + UNIT - 1) / UNIT * UNIT;
    size -= start - (uintptr_t)memory;
    base = (unsigned char *)start;
    first = HEADER;
    live = peak = 0;
    describe(first, (uint32_t)(size / UNIT - 1) * UNIT, NONE);
}

size_t arena_live(void)
{
    return live;
}
size_t arena_peak(void)
{
    return peak;
}

void *bw_port_allocate(size_t size)
{
    uint32_t needed = block_for(size), before = NONE, block = first;
    if (needed == 0)
        return NULL;
    while (block != NONE && size_of(block) < needed) {
        before = block;
        block = next_of(block);
    }
    if (block == NONE)
        return NULL;
    uint32_t next = next_of(block);
    if (size_of(block) > needed) {
        describe(block + needed, size_of(block) - needed, next);
        next = block + needed;
    }
    link_behind(before, next);
    set_word(block, needed);
    count(needed);
    return base + block + HEADER;
}

/* Puts a block in its place among the free ones and joins it with its neighbours. */
static void give_back(uint32_t block)
{
    uint32_t before = NONE, next = first, size = size_of(block);
    live -= size;
    while (next < block) {
        before = next;
        next = next_of(next);
    }
    if (next != NONE && block + size == next) {
        size += size_of(next);
        next = next_of(next);
    }
    if (before != NONE && before + size_of(before) == block) {
        describe(before, size_of(before) + size, next);
    } else {
        describe(block, size, next);
        link_behind(before, block);
    }
}

void bw_port_free(void *place)
{
    if (place != NULL)
        give_back((uint32_t)((unsigned char *)place - base) - HEADER);
}

/* Takes the block behind into one that has to grow; false if there is none, or too little. */
static int grow(uint32_t block, uint32_t needed)
{
    uint32_t before = NONE, behind = first, size = size_of(block);
    while (behind < block) {
        before = behind;
        behind = next_of(behind);
    }
    if (behind == NONE || block + size != behind || size + size_of(behind) < needed)
        return 0;
    link_behind(before, next_of(behind));
    live += size_of(behind);
    set_word(block, size + size_of(behind));
    return 1;
}

static void shrink(uint32_t block, uint32_t needed)
{
    uint32_t size = size_of(block);
    if (size == needed)
        return;
    set_word(block, needed);
    set_word(block + needed, size - needed);
    give_back(block + needed);
}

void *bw_port_reallocate(void *place, size_t size)
{
    uint32_t block = (uint32_t)((unsigned char *)place - base) - HEADER, needed = block_for(size);
    void *other;
    if (needed == 0)
        return NULL;
    if (needed <= size_of(block) || grow(block, needed)) {
        shrink(block, needed);
        count(0);
        return place;
    }
    other = bw_port_allocate(size);
    if (other != NULL) {
        memcpy(other, place, size_of(block) - HEADER);
        give_back(block);
    }
    return other;
}

size_t bw_port_available(void)
{
    uint32_t longest = HEADER, block = first;
    for (; block != NONE; block = next_of(block))
        if (size_of(block) > longest)
            longest = size_of(block);
    return longest - HEADER;
}
