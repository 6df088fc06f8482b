/*
 * What the parts of the everything server share: reading arguments, answering, asking, and calls that take their time.
 */
#ifndef EVERYTHING_H
#define EVERYTHING_H

#include <barewire.h>

/* Room for the short texts that arguments and answers hold. */
#define TEXT_BYTES 512
/* For printf: a text with its length, as `%.*s` wants it. */
#define SHOWN(text) (int)(text).length, (text).data == NULL ? "" : (const char *)(text).data

/* The server, which `main` makes. */
extern bw_server *server;

/* A tool, resource or prompt: how it is announced, and what is done when it is asked for. */
typedef struct {
    const char *name;
    const char *definition;
    void (*serve)(const bw_event *event);
} entry;

#define OBJECT(properties, required) "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define TOOL(name, about, schema, serve)                                                                               \
    {name, "{\"name\":\"" name "\",\"description\":\"" about "\",\"inputSchema\":" schema "}", serve}
#define NO_ARGUMENTS "{\"type\":\"object\"}"
#define STRING "{\"type\":\"string\"}"

/* ---------------------------------------------------------------- arguments and answers */

/* The string under a JSON pointer, in `buffer` of TEXT_BYTES, with a NUL; "" if there is none or it is too long. */
const char *read_text(bw_bytes json, const char *pointer, char *buffer);

/* Answers the call of a tool with text, as printf writes it. */
void reply(const bw_event *event, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Answers a request with what a writer holds, which is freed. */
void reply_written(uint64_t request, bw_json_writer *writer);

/* Blocks of content. */
void put_text(bw_json_writer *writer, bw_bytes text);
void put_media(bw_json_writer *writer, const char *type, bw_bytes data, const char *mime_type);
void put_resource(bw_json_writer *writer, bw_bytes uri, const char *mime_type, bw_bytes text);
void put_member(bw_json_writer *writer, const char *key, bw_bytes string);

extern const bw_bytes png;
extern const bw_bytes wav;

/* ---------------------------------------------------------------- questions */

/* A question to the user, with a message and the schema of a form, both parts of JSON. */
#define ELICIT(key, message, schema)                                                                                   \
    {BW_LITERAL(key), BW_INPUT_ELICITATION, BW_LITERAL("{\"message\":\"" message "\",\"requestedSchema\":" schema "}")}

/*
 * Asks what has not been answered yet. Whether all is answered; otherwise the event comes again, or the request has been
 * answered with the reason why not. `state` is JSON that comes back with the event, or nothing.
 */
bool asked(const bw_event *event, const bw_question *questions, size_t count, bw_bytes state);

/* What the client answered to a question: a result, with members such as "/content/name". */
bw_bytes answer_to(const bw_event *event, const char *key);

extern const entry question_tools[];
extern const size_t question_tool_count;
void ask_for_prompt(const bw_event *event);

/* ---------------------------------------------------------------- calls that take their time */

typedef struct job job;

/* Does a step of a call; the milliseconds until the next one, or DONE. */
typedef uint64_t (*step)(job *it);
#define DONE BW_NEVER

struct job {
    job *next;
    step step;
    uint64_t request;
    uint64_t exchange;
    uint64_t due;
    unsigned int steps; /* that were done */
    double seconds;     /* of `slow` and `test_slow` */
};

/* Begins with a step at once; the call is freed when it is done or cancelled. */
job *begin_job(const bw_event *event, step step);

/* Does what is due; when something is due again. */
uint64_t run_jobs(void);

/* The client does not want the answer any more. */
void cancel_job(uint64_t request);

/* Frees what is left at the end. */
void drop_jobs(void);

extern const entry job_tools[];
extern const size_t job_tool_count;

#endif
