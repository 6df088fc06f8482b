//! The server over Streamable HTTP, both eras at one endpoint.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::serve::ListenerExt;
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::catalog::{self, WATCHED, text};
use crate::{Failure, typed};

const PAGE: usize = 6;

/// What all sessions and requests share.
#[derive(Default)]
struct State {
    cancelled_calls: AtomicU32,
    has_extra: AtomicBool,
    /// The streams of the modern era that want to hear of changes.
    watchers: Mutex<Vec<SubscriptionSink>>,
}

/// One session of the legacy era, or one request of the modern one.
#[derive(Clone, Default)]
struct Everything {
    state: Arc<State>,
    subscribed: Arc<Mutex<HashSet<String>>>,
}

type Context = RequestContext<RoleServer>;
/// What a handler gives: a result, or the question that stands before it.
type Outcome = Result<Value, ErrorData>;

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn is_modern(context: &Context) -> bool {
    context.protocol_version().is_some_and(|revision| revision.as_str() >= "2026")
}

/// A final result from its JSON. The SDK takes the member away again for revisions that do not have it.
fn complete<T: DeserializeOwned>(mut result: Value) -> T {
    result["resultType"] = "complete".into();
    typed(result)
}

/// An answer, or else the result that asks the client for it.
enum Asked {
    Answer(Value),
    Question(Value),
}

/// Asks the client: by a request in the legacy era, by the end of this one in the modern era.
async fn ask(
    context: &Context,
    request: &CallToolRequestParams,
    key: &str,
    question: Value,
) -> Result<Asked, ErrorData> {
    if is_modern(context) {
        let answer = request.input_responses.as_ref().and_then(|responses| responses.get(key));
        return Ok(match answer {
            Some(answer) => Asked::Answer(answer.clone()),
            None => {
                Asked::Question(json!({"resultType": "input_required", "inputRequests": {key: question}}))
            }
        });
    }
    let question: ServerRequest = typed(question);
    let answer = context.peer.send_request(question).await.map_err(internal)?;
    serde_json::to_value(answer).map(Asked::Answer).map_err(internal)
}

impl Everything {
    async fn report(&self, context: &Context, done: f64, total: f64) -> Result<(), ErrorData> {
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, done).with_total(total);
            context.peer.notify_progress(progress).await.map_err(internal)?;
            // The npm clients lose a notification that arrives in one read with the answer it belongs to.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    async fn slow(&self, context: &Context, seconds: f64) -> Outcome {
        self.report(context, 0.0, seconds).await?;
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => Ok(text("slept")),
            () = context.ct.cancelled() => {
                self.state.cancelled_calls.fetch_add(1, Ordering::Relaxed);
                Err(internal("cancelled"))
            }
        }
    }

    async fn log(&self, context: &Context) -> Outcome {
        for line in catalog::LOG_LINES {
            let message = typed(json!({"level": "info", "data": line}));
            context.peer.notify_logging_message(message).await.map_err(internal)?;
        }
        Ok(text("logged"))
    }

    async fn elicit_twice(&self, context: &Context, request: &CallToolRequestParams) -> Outcome {
        let user = |answer: &Value| answer["content"]["username"].as_str().unwrap_or_default().to_owned();
        // In the modern era the first answer travels through the client.
        let first = match &request.request_state {
            Some(first) => first.clone(),
            None => match ask(context, request, "first", catalog::user_question("First?")).await? {
                Asked::Answer(answer) => user(&answer),
                Asked::Question(question) => return Ok(question),
            },
        };
        match ask(context, request, "second", catalog::user_question("Second?")).await? {
            Asked::Answer(answer) => Ok(text(format!("{first} and {}", user(&answer)))),
            Asked::Question(mut question) => {
                question["requestState"] = first.into();
                Ok(question)
            }
        }
    }

    async fn ask_once(
        &self,
        context: &Context,
        request: &CallToolRequestParams,
        question: Value,
        say: fn(Value) -> String,
    ) -> Outcome {
        match ask(context, request, "answer", question).await? {
            Asked::Answer(answer) => Ok(text(say(answer))),
            Asked::Question(question) => Ok(question),
        }
    }

    async fn change_tools(&self, context: &Context) -> Outcome {
        self.state.has_extra.fetch_xor(true, Ordering::Relaxed);
        if !is_modern(context) {
            context.peer.notify_tool_list_changed().await.map_err(internal)?;
        }
        let watchers = self.state.watchers.lock().expect("no panic").clone();
        for watcher in watchers {
            // Those that did not ask for it, or have gone, refuse.
            let _ = watcher.notify_tool_list_changed().await;
        }
        Ok(text("changed"))
    }

    async fn update_resource(&self, context: &Context) -> Outcome {
        if self.subscribed.lock().expect("no panic").contains(WATCHED) {
            let update = ResourceUpdatedNotificationParam::new(WATCHED);
            context.peer.notify_resource_updated(update).await.map_err(internal)?;
        }
        let watchers = self.state.watchers.lock().expect("no panic").clone();
        for watcher in watchers {
            let _ = watcher.notify_resource_updated(WATCHED).await;
        }
        Ok(text("updated"))
    }

    async fn call(&self, request: &CallToolRequestParams, context: &Context) -> Outcome {
        let given = json!(request.arguments);
        let word = |name: &str| given[name].as_str().unwrap_or_default();
        let once = |question, say| self.ask_once(context, request, question, say);
        match &*request.name {
            "test_simple_text" => Ok(text("This is a simple text response for testing.")),
            "echo" => Ok(text(word("text"))),
            "extra" => Ok(text("extra")),
            "add" => {
                let sum = json!({"sum": given["a"].as_i64().unwrap_or(0) + given["b"].as_i64().unwrap_or(0)});
                let mut result = text(sum.to_string());
                result["structuredContent"] = sum;
                Ok(result)
            }
            "test_error_handling" => {
                let mut result = text("This tool intentionally returns an error for testing");
                result["isError"] = true.into();
                Ok(result)
            }
            "test_tool_with_progress" => {
                for done in [0.0, 50.0, 100.0] {
                    self.report(context, done, 100.0).await?;
                }
                Ok(text("done"))
            }
            "slow" => self.slow(context, given["seconds"].as_f64().unwrap_or(0.0)).await,
            "cancellations" => Ok(text(self.state.cancelled_calls.load(Ordering::Relaxed).to_string())),
            "test_tool_with_logging" => self.log(context).await,
            "test_elicitation" => {
                let say = |answer: Value| {
                    let content =
                        answer.get("content").map_or(String::new(), |content| format!(" {content}"));
                    format!("User response: {}{content}", answer["action"].as_str().unwrap_or_default())
                };
                once(catalog::user_question(word("message")), say).await
            }
            "test_elicitation_twice" => self.elicit_twice(context, request).await,
            "test_sampling" => {
                let say = |answer: Value| format!("LLM response: {}", answer["content"]);
                once(catalog::model_question(word("prompt")), say).await
            }
            "test_list_roots" => once(catalog::roots_question(), |answer| answer["roots"].to_string()).await,
            "test_trigger_tool_change" => self.change_tools(context).await,
            "test_trigger_resource_update" => self.update_resource(context).await,
            name => catalog::content(name).ok_or_else(|| ErrorData::invalid_params("no such tool", None)),
        }
    }
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        typed(json!({
            "protocolVersion": ProtocolVersion::LATEST,
            "capabilities": {
                "tools": {"listChanged": true},
                "resources": {"subscribe": true},
                "prompts": {},
                "completions": {},
                "logging": {},
            },
            "serverInfo": {"name": "interop-rmcp", "version": "1.0.0"},
        }))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let start = request.and_then(|page| page.cursor?.parse().ok()).unwrap_or(0);
        let all = catalog::tools(self.state.has_extra.load(Ordering::Relaxed));
        let page: Vec<&Value> = all.iter().skip(start).take(PAGE).collect();
        let mut result = json!({"tools": page});
        if start + PAGE < all.len() {
            result["nextCursor"] = (start + PAGE).to_string().into();
        }
        Ok(complete(result))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = self.call(&request, &context).await?;
        Ok(match result["resultType"].as_str() {
            Some("input_required") => CallToolResponse::InputRequired(typed(result)),
            _ => CallToolResponse::Complete(complete(result)),
        })
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(complete(catalog::resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(complete(catalog::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = catalog::contents(&request.uri);
        let contents = contents.ok_or_else(|| ErrorData::resource_not_found("no such resource", None))?;
        Ok(ReadResourceResponse::Complete(complete(contents)))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(complete(catalog::prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = catalog::prompt(&request.name, &json!(request.arguments));
        let prompt = prompt.ok_or_else(|| ErrorData::invalid_params("no such prompt", None))?;
        Ok(GetPromptResponse::Complete(complete(prompt)))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: Context,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(complete(catalog::completion(&request.argument.value)))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        self.subscribed.lock().expect("no panic").insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        self.subscribed.lock().expect("no panic").remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.state.watchers.lock().expect("no panic").push(context.sink().clone());
        context.cancelled().await;
        Ok(())
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}

pub async fn serve(port: u16) -> Result<(), Failure> {
    let state = Arc::new(State::default());
    let build = move || Ok(Everything { state: state.clone(), ..Everything::default() });
    let sessions = LocalSessionManager::default();
    let service = StreamableHttpService::new(build, sessions.into(), StreamableHttpServerConfig::default());
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    // Without it each event waits for the acknowledgement of the one before.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
