/*
 * The tools of the everything server that take their time.
 */
#include "everything.h"

#include "host.h"

#include <stdlib.h>

static job *jobs;
static unsigned int cancellations;

job *begin_job(const bw_event *event, step step)
{
    job *it = calloc(1, sizeof *it);
    if (it == NULL)
        abort();
    it->step = step;
    it->request = bw_event_request(event);
    it->exchange = bw_event_exchange(event);
    it->due = host_now();
    it->next = jobs;
    jobs = it;
    return it;
}

uint64_t run_jobs(void)
{
    uint64_t due = BW_NEVER, now = host_now(), wait;
    job **place = &jobs, *it;
    while ((it = *place) != NULL) {
        if (it->due <= now) {
            wait = it->step(it);
            it->steps++;
            if (wait == DONE) {
                *place = it->next;
                free(it);
                continue;
            }
            it->due = now + wait;
        }
        due = it->due < due ? it->due : due;
        place = &it->next;
    }
    return due;
}

void cancel_job(uint64_t request)
{
    job **place = &jobs, *it;
    while ((it = *place) != NULL && it->request != request)
        place = &it->next;
    if (it != NULL) {
        *place = it->next;
        cancellations++;
        free(it);
    }
}

void drop_jobs(void)
{
    while (jobs != NULL) {
        job *it = jobs;
        jobs = it->next;
        free(it);
    }
}

static uint64_t answer(job *it, bw_bytes text)
{
    host_must(bw_server_respond_text(server, it->request, text));
    return DONE;
}

static void log_line(uint64_t request, bw_bytes line)
{
    host_must(bw_server_notify_log(server, request, BW_LOG_LEVEL_INFO, bw_none(), line, NULL));
}

static uint64_t log_step(job *it)
{
    const bw_bytes lines[] = {BW_LITERAL("\"Tool execution started\""), BW_LITERAL("\"Tool processing data\""),
                              BW_LITERAL("\"Tool execution completed\"")};
    log_line(it->request, lines[it->steps]);
    return it->steps < 2 ? 50 : answer(it, BW_LITERAL("Logged three messages."));
}

static void log_thrice(const bw_event *event)
{
    begin_job(event, log_step);
}

static void log_once(const bw_event *event)
{
    log_line(bw_event_request(event), BW_LITERAL("\"A log message that was asked for\""));
    reply(event, "Logged one message.");
}

static uint64_t progress_step(job *it)
{
    if (it->steps > 2)
        return answer(it, BW_LITERAL("Progress was reported."));
    host_must(bw_server_notify_progress(server, it->request, it->steps * 50, 100, BW_LITERAL("Working"), NULL));
    return 50;
}

static void report_progress(const bw_event *event)
{
    begin_job(event, progress_step);
}

static uint64_t reconnection_step(job *it)
{
    if (it->steps > 0)
        return answer(it, BW_LITERAL("Reconnection test completed."));
    if (it->exchange != 0)
        host_must(bw_server_http_close_stream(server, host_now(), it->exchange, 500, NULL));
    return 100;
}

static void hang_up(const bw_event *event)
{
    begin_job(event, reconnection_step);
}

static uint64_t sleep_step(job *it)
{
    if (it->steps > 0)
        return answer(it, BW_LITERAL("slept"));
    host_must(bw_server_notify_progress(server, it->request, 0, it->seconds, bw_none(), NULL));
    return (uint64_t)(it->seconds * 1000);
}

static void sleep_for(const bw_event *event)
{
    double seconds = 60;
    bw_json_get_double(bw_event_arguments(event), "/seconds", &seconds);
    if (seconds >= 0 && seconds <= 3600)
        begin_job(event, sleep_step)->seconds = seconds;
    else
        host_must(bw_server_respond_invalid_arguments(server, bw_event_request(event),
                                                      BW_LITERAL("seconds is a number from 0 to 3600")));
}

static void count_cancellations(const bw_event *event)
{
    reply(event, "%u", cancellations);
}

const entry job_tools[] = {
    TOOL("test_tool_with_logging", "Logs while it works.", NO_ARGUMENTS, log_thrice),
    TOOL("test_logging_tool", "Logs once, if the client wants to hear it.", NO_ARGUMENTS, log_once),
    TOOL("test_tool_with_progress", "Reports progress while it works.", NO_ARGUMENTS, report_progress),
    TOOL("test_reconnection", "Hangs up while it works: the client comes back for the answer, which waits for it.",
         NO_ARGUMENTS, hang_up),
    TOOL("slow", "Takes its time, so that it can be cancelled.",
         OBJECT("\"seconds\":{\"type\":\"number\",\"minimum\":0,\"maximum\":3600,\"default\":60}", ""), sleep_for),
    TOOL("cancellations", "Tells how many calls were cancelled.", NO_ARGUMENTS, count_cancellations),
};
const size_t job_tool_count = sizeof job_tools / sizeof *job_tools;
