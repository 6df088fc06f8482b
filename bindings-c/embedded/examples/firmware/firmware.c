/* The sessions in 16 KiB on a Cortex-M4, telling what happens by semihosting. */
#include "session.h"

#include <barewire_port.h>

#include <stdint.h>
#include <string.h>

/* Operations of Arm semihosting. */
#define SYS_WRITE0 0x04
#define SYS_EXIT 0x18
#define STOPPED_RUNTIME_ERROR 0x20023
#define STOPPED_APPLICATION_EXIT 0x20026

/* What the stack holds before it is used. */
#define PAINT 0xa5a5a5a5u

extern uint32_t data_begin, data_end, data_image, bss_begin, bss_end, stack_top;

static unsigned char memory[16 << 10];

static void semihosting(uintptr_t operation, uintptr_t argument)
{
    register uintptr_t r0 __asm__("r0") = operation;
    register uintptr_t r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void leave(int failed)
{
    semihosting(SYS_EXIT, failed ? STOPPED_RUNTIME_ERROR : STOPPED_APPLICATION_EXIT);
    for (;;) {
    }
}

void say(const char *text, size_t length)
{
    char part[65];
    while (length > 0) {
        size_t count = length < sizeof part - 1 ? length : sizeof part - 1;
        memcpy(part, text, count);
        part[count] = 0;
        semihosting(SYS_WRITE0, (uintptr_t)part);
        text += count;
        length -= count;
    }
}

void say_number(const char *what, size_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    say(digits + at, sizeof digits - at);
    say(" ", 1);
    say(what, strlen(what));
    say("\n", 1);
}

void bw_port_panic(void)
{
    say("the library has a defect, or memory ended\n", 42);
    leave(1);
}

static void fault(void)
{
    say("the processor has faulted\n", 26);
    leave(1);
}

#define STACK (32u << 10)

void reset(void)
{
    uint32_t *to, *stack = &stack_top - STACK / 4, *used;
    const uint32_t *from = &data_image;
    int failed;
    for (to = &data_begin; to < &data_end;)
        *to++ = *from++;
    for (to = &bss_begin; to < &bss_end;)
        *to++ = 0;
    /* The floating-point unit, which the compiler may use. */
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20;
    __asm__ volatile("dsb\n isb" ::: "memory");
    for (to = stack; to < (uint32_t *)__builtin_frame_address(0) - 32;)
        *to++ = PAINT;
    failed = run_sessions(memory, sizeof memory);
    for (used = stack; *used == PAINT;)
        used++;
    say_number("bytes of stack, at most", (size_t)((char *)&stack_top - (char *)used));
    if (failed)
        say_number("is the check that failed", (size_t)failed);
    leave(failed);
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    &stack_top, (void *)reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault, (void *)fault,
};
