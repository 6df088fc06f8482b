/*
 * The tools of the everything server that ask the client something. They are written once: legacy clients get requests,
 * newer ones rounds of the same call.
 */
#include "everything.h"

#include "host.h"

#include <stdio.h>
#include <stdlib.h>

#define QUESTIONS 4

/* What a client has to declare to be asked, by kind. */
static bw_bytes capability(int32_t kind)
{
    return kind == BW_INPUT_ELICITATION ? BW_LITERAL("{\"elicitation\":{}}")
           : kind == BW_INPUT_SAMPLING  ? BW_LITERAL("{\"sampling\":{}}")
                                        : BW_LITERAL("{\"roots\":{}}");
}

/* Answers a request that cannot ask. */
static void give_up(const bw_event *event, bw_status status, int32_t kind)
{
    if (status == BW_ERROR_MISSING_CAPABILITY)
        host_must(bw_server_respond_missing_capability(server, bw_event_request(event), capability(kind)));
    else
        host_must(bw_server_respond_error(server, bw_event_request(event), BW_RPC_INTERNAL_ERROR,
                                          bw_server_error_message(server), bw_none()));
}

bool asked(const bw_event *event, const bw_question *questions, size_t count, bw_bytes state)
{
    bw_question open[QUESTIONS];
    size_t left = 0, at;
    bw_answer answer;
    bw_status status;
    for (at = 0; at < count; at++) {
        if (!bw_event_answer(event, questions[at].key, &answer)) {
            open[left++] = questions[at];
        } else if (!bw_is_some(answer.result)) {
            host_must(bw_server_respond_tool_error(server, bw_event_request(event), answer.error_message));
            return false;
        }
    }
    if (left == 0)
        return true;
    status = bw_server_require_input(server, host_now(), bw_event_request(event), open, left, state);
    if (status != BW_OK)
        give_up(event, status, open[0].kind);
    return false;
}

bw_bytes answer_to(const bw_event *event, const char *key)
{
    bw_answer answer;
    return bw_event_answer(event, bw_string(key), &answer) ? answer.result : bw_none();
}

/* ---------------------------------------------------------------- one question */

#define NAME OBJECT("\"name\":" STRING, "\"name\"")
#define CONFIRMATION(key) OBJECT("\"" key "\":{\"type\":\"boolean\"}", "\"" key "\"")
#define USER                                                                                                           \
    OBJECT("\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"                                   \
           "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}",                                 \
           "\"username\",\"email\"")

/* A question with a text that was given as an argument; `before` and `after` are the JSON around it. */
static bool ask_with(const bw_event *event, int32_t kind, const char *pointer, bw_bytes before, bw_bytes after)
{
    bw_bytes arguments = bw_event_arguments(event), text, params = bw_none();
    bw_question question = {BW_LITERAL("question"), 0, bw_none()};
    bool is_answered;
    char *memory;
    if (bw_json_get_type(arguments, pointer) != BW_JSON_STRING || bw_json_get(arguments, pointer, &text) != BW_OK) {
        host_must(bw_server_respond_invalid_arguments(server, bw_event_request(event), BW_LITERAL("a text is needed")));
        return false;
    }
    memory = malloc(before.length + text.length + after.length + 1);
    if (memory == NULL)
        abort();
    params.length = (size_t)sprintf(memory, "%.*s%.*s%.*s", SHOWN(before), SHOWN(text), SHOWN(after));
    params.data = (const uint8_t *)memory;
    question.kind = kind;
    question.params = params;
    is_answered = asked(event, &question, 1, bw_none());
    free(memory);
    return is_answered;
}

/* Tells what the user did with a form. */
static void tell(const bw_event *event, const char *what, const char *key)
{
    char action[TEXT_BYTES];
    bw_bytes answer = answer_to(event, key), content = bw_none();
    bw_json_get(answer, "/content", &content);
    reply(event, "%s: action=%s, content=%.*s", what, read_text(answer, "/action", action), SHOWN(content));
}

static void elicit(const bw_event *event)
{
    if (ask_with(event, BW_INPUT_ELICITATION, "/message", BW_LITERAL("{\"message\":"),
                 BW_LITERAL(",\"requestedSchema\":" USER "}")))
        tell(event, "User response", "question");
}

static void elicit_twice(const bw_event *event)
{
    const bw_question first[] = {ELICIT("first", "First?", USER)}, second[] = {ELICIT("second", "Second?", USER)};
    char one[TEXT_BYTES], two[TEXT_BYTES];
    if (asked(event, first, 1, bw_none()) && asked(event, second, 1, bw_none()))
        reply(event, "%s and %s", read_text(answer_to(event, "first"), "/content/username", one),
              read_text(answer_to(event, "second"), "/content/username", two));
}

static void elicit_defaults(const bw_event *event)
{
    static const char form[] =
        "{\"message\":\"Please review and update the form fields with defaults\",\"requestedSchema\":" OBJECT(
            "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
            "\"age\":{\"type\":\"integer\",\"default\":30},"
            "\"score\":{\"type\":\"number\",\"default\":95.5},"
            "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],\"default\":\"active\"},"
            "\"verified\":{\"type\":\"boolean\",\"default\":true}",
            "") "}";
    const bw_question question = {BW_LITERAL("form"), BW_INPUT_ELICITATION, bw_string(form)};
    if (asked(event, &question, 1, bw_none()))
        tell(event, "Elicitation completed", "form");
}

#define OPTIONS "[\"option1\",\"option2\",\"option3\"]"
#define TITLED                                                                                                         \
    "[{\"const\":\"value1\",\"title\":\"First\"},{\"const\":\"value2\",\"title\":\"Second\"},"                         \
    "{\"const\":\"value3\",\"title\":\"Third\"}]"

static void elicit_choices(const bw_event *event)
{
    static const char form[] =
        "{\"message\":\"Please select options from the enum fields\",\"requestedSchema\":" OBJECT(
            "\"untitledSingle\":{\"type\":\"string\",\"enum\":" OPTIONS "},"
            "\"titledSingle\":{\"type\":\"string\",\"oneOf\":" TITLED "},"
            "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
            "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
            "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":" OPTIONS "}},"
            "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":" TITLED "}}",
            "") "}";
    const bw_question question = {BW_LITERAL("form"), BW_INPUT_ELICITATION, bw_string(form)};
    if (asked(event, &question, 1, bw_none()))
        tell(event, "Elicitation completed", "form");
}

static void elicit_confirmation(const bw_event *event)
{
    const bw_question question = ELICIT("confirm", "Go on?", CONFIRMATION("confirm"));
    bool goes_on = false;
    if (!asked(event, &question, 1, bw_none()))
        return;
    bw_json_get_bool(answer_to(event, "confirm"), "/content/confirm", &goes_on);
    reply(event, goes_on ? "Going on." : "Stopped.");
}

#define SAMPLE(key, prompt, tokens)                                                                                    \
    {BW_LITERAL(key), BW_INPUT_SAMPLING,                                                                               \
     BW_LITERAL("{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" prompt "\"}}],"         \
                "\"maxTokens\":" #tokens "}")}
#define ROOTS(key) {BW_LITERAL(key), BW_INPUT_ROOTS, BW_LITERAL("{}")}

static void sample(const bw_event *event)
{
    char text[TEXT_BYTES];
    if (ask_with(event, BW_INPUT_SAMPLING, "/prompt",
                 BW_LITERAL("{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"),
                 BW_LITERAL("}}],\"maxTokens\":100}")))
        reply(event, "LLM response: %s", read_text(answer_to(event, "question"), "/content/text", text));
}

static void need_model(const bw_event *event)
{
    const bw_question question = SAMPLE("model", "Are you there?", 10);
    char text[TEXT_BYTES];
    if (asked(event, &question, 1, bw_none()))
        reply(event, "%s", read_text(answer_to(event, "model"), "/content/text", text));
}

static void list_roots(const bw_event *event)
{
    const bw_question question = ROOTS("client_roots");
    bw_json_iterator roots;
    bw_json_writer result;
    bw_bytes root, text;
    char uri[TEXT_BYTES];
    if (!asked(event, &question, 1, bw_none()))
        return;
    host_must(bw_json_writer_init(&result, NULL, 0));
    bw_json_begin_object(&result);
    bw_json_put_key(&result, BW_LITERAL("content"));
    bw_json_begin_array(&result);
    if (bw_json_iterate(answer_to(event, "client_roots"), "/roots", &roots) == BW_OK)
        while (bw_json_next(&roots, NULL, &root)) {
            text = bw_string(read_text(root, "/uri", uri));
            put_text(&result, text);
        }
    bw_json_end_array(&result);
    bw_json_end_object(&result);
    reply_written(bw_event_request(event), &result);
}

/* ---------------------------------------------------------------- rounds */

static void ask_name(const bw_event *event)
{
    const bw_question question = ELICIT("user_name", "What is your name?", NAME);
    char name[TEXT_BYTES];
    if (asked(event, &question, 1, bw_none()))
        reply(event, "Hello, %s!", read_text(answer_to(event, "user_name"), "/content/name", name));
}

static void ask_capital(const bw_event *event)
{
    const bw_question question = SAMPLE("capital_question", "What is the capital of France?", 100);
    char text[TEXT_BYTES];
    if (asked(event, &question, 1, bw_none()))
        reply(event, "The model says: %s", read_text(answer_to(event, "capital_question"), "/content/text", text));
}

/* Keeps state with the client while it asks: it comes back as it was, or not at all. */
static void keep_state(const bw_event *event)
{
    const bw_question question = ELICIT("confirm", "Please confirm", CONFIRMATION("ok"));
    char state[TEXT_BYTES];
    if (asked(event, &question, 1, BW_LITERAL("\"state-ok\"")))
        reply(event, "Confirmed: %s", read_text(bw_event_state(event), "", state));
}

static void ask_at_once(const bw_event *event)
{
    const bw_question questions[] = {ELICIT("user_name", "What is your name?", NAME),
                                     SAMPLE("greeting", "Write a greeting", 100), ROOTS("client_roots")};
    char name[TEXT_BYTES], greeting[TEXT_BYTES];
    size_t roots = 0;
    if (!asked(event, questions, 3, BW_LITERAL("true")))
        return;
    bw_json_get_length(answer_to(event, "client_roots"), "/roots", &roots);
    reply(event, "%s: %s (%zu roots)", read_text(answer_to(event, "user_name"), "/content/name", name),
          read_text(answer_to(event, "greeting"), "/content/text", greeting), roots);
}

static void ask_in_turn(const bw_event *event)
{
    const bw_question first = ELICIT("step1", "Step 1: What is your name?", NAME);
    const bw_question second =
        ELICIT("step2", "Step 2: What is your favourite colour?", OBJECT("\"color\":" STRING, "\"color\""));
    char name[TEXT_BYTES], color[TEXT_BYTES];
    if (asked(event, &first, 1, BW_LITERAL("1")) && asked(event, &second, 1, BW_LITERAL("2")))
        reply(event, "%s likes %s.", read_text(answer_to(event, "step1"), "/content/name", name),
              read_text(answer_to(event, "step2"), "/content/color", color));
}

static void ask_what_can_be_asked(const bw_event *event)
{
    const bw_question who = ELICIT("who", "Who are you?", NAME), model = SAMPLE("model", "Who are you?", 50);
    bw_question questions[2];
    size_t count = 0;
    if (bw_event_has_capability(event, BW_CAPABILITY_ELICITATION))
        questions[count++] = who;
    if (bw_event_has_capability(event, BW_CAPABILITY_SAMPLING))
        questions[count++] = model;
    if (asked(event, questions, count, bw_none()))
        reply(event, "Asked what could be asked.");
}

void ask_for_prompt(const bw_event *event)
{
    const bw_question question =
        ELICIT("user_context", "What context should the prompt use?", OBJECT("\"context\":" STRING, "\"context\""));
    char context[TEXT_BYTES], text[TEXT_BYTES + 32];
    if (!asked(event, &question, 1, bw_none()))
        return;
    snprintf(text, sizeof text, "Use this context: %s",
             read_text(answer_to(event, "user_context"), "/content/context", context));
    host_must(bw_server_respond_prompt_text(server, bw_event_request(event), bw_string(text)));
}

const entry question_tools[] = {
    TOOL("test_elicitation", "Asks the user for name and address.", OBJECT("\"message\":" STRING, "\"message\""),
         elicit),
    TOOL("test_elicitation_twice", "Asks the user two questions.", NO_ARGUMENTS, elicit_twice),
    TOOL("test_elicitation_sep1034_defaults", "Asks with a default for every kind of field.", NO_ARGUMENTS,
         elicit_defaults),
    TOOL("test_elicitation_sep1330_enums", "Asks with every kind of choice.", NO_ARGUMENTS, elicit_choices),
    TOOL("test_streaming_elicitation", "Asks for a confirmation.", NO_ARGUMENTS, elicit_confirmation),
    TOOL("test_sampling", "Asks the client's model.", OBJECT("\"prompt\":" STRING, "\"prompt\""), sample),
    TOOL("test_list_roots", "Asks for the client's roots.", NO_ARGUMENTS, list_roots),
    TOOL("test_missing_capability", "Needs a client with a model.", NO_ARGUMENTS, need_model),
    TOOL("test_input_required_result_elicitation", "Asks for a name.", NO_ARGUMENTS, ask_name),
    TOOL("test_input_required_result_sampling", "Asks the client's model for a capital.", NO_ARGUMENTS, ask_capital),
    TOOL("test_input_required_result_list_roots", "Asks for roots.", NO_ARGUMENTS, list_roots),
    TOOL("test_input_required_result_request_state", "Keeps state with the client while it asks.", NO_ARGUMENTS,
         keep_state),
    TOOL("test_input_required_result_tampered_state", "Its state is sealed: what was tampered with is refused.",
         NO_ARGUMENTS, keep_state),
    TOOL("test_input_required_result_multiple_inputs", "Asks three questions at once.", NO_ARGUMENTS, ask_at_once),
    TOOL("test_input_required_result_multi_round", "Asks twice, the second question after the first answer.",
         NO_ARGUMENTS, ask_in_turn),
    TOOL("test_input_required_result_capabilities", "Asks only what the client can answer.", NO_ARGUMENTS,
         ask_what_can_be_asked),
};
const size_t question_tool_count = sizeof question_tools / sizeof *question_tools;
