/* Whole sessions of a client, as lines. */
#ifndef SESSION_H
#define SESSION_H

#include <stddef.h>

/* Something was not given back. */
#define LEAKED 5

/* Runs a session of each era in `memory`, one after the other. 0 if each request got its result and everything was given
   back; otherwise the number of the check that failed: 1 the start, 2 what was received, 3 the end, 4 the answers, or
   LEAKED. */
int run_sessions(void *memory, size_t size);

/* To be defined beside: tells what happened. */
void say(const char *text, size_t length);
void say_number(const char *what, size_t number);

#endif
