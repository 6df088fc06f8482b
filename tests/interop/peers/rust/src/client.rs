//! The client: a line of JSON in is a request to make, a line out is an answer or something that came unasked.
//!
//! In: `{"id", "method", "params"}`, and `{"answers"}` with what to answer to the server by method,
//! `{"stop": id}` for a call that is no longer wanted or a subscription. Out: `{"id", "result"}`, `{"id", "error"}`,
//! and `{"method", "params"}` for a notification or a request of the server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rmcp::model::*;
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RequestContext,
    RunningService, ServiceError, Subscription,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::oneshot;

use crate::{Failure, typed};

fn tell(line: &Value) {
    println!("{line}");
}

fn tell_of(method: &str, params: impl Serialize) {
    tell(&json!({"method": method, "params": params}));
}

/// Tells what comes from the server, and answers what was agreed.
#[derive(Clone)]
struct Told {
    revision: Option<String>,
    answers: Arc<Mutex<Value>>,
}

impl Told {
    fn answer<T: serde::de::DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<T, ErrorData> {
        tell_of(method, params);
        Ok(typed(self.answers.lock().expect("no panic")[method].clone()))
    }
}

type Asking = RequestContext<RoleClient>;
type Hearing = NotificationContext<RoleClient>;

impl ClientHandler for Told {
    fn get_info(&self) -> ClientConfig {
        typed(json!({
            "protocolVersion": self.revision.as_deref().unwrap_or(ProtocolVersion::LATEST.as_str()),
            "capabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
            "clientInfo": {"name": "interop-rmcp", "version": "1.0.0"},
        }))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: Asking,
    ) -> Result<ElicitResult, ErrorData> {
        self.answer("elicitation/create", params)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: Asking,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.answer("sampling/createMessage", params)
    }

    async fn list_roots(&self, _: Asking) -> Result<ListRootsResult, ErrorData> {
        self.answer("roots/list", Value::Null)
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: Hearing) {
        tell_of("notifications/progress", params);
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParam, _: Hearing) {
        tell_of("notifications/message", params);
    }

    async fn on_resource_updated(&self, params: ResourceUpdatedNotificationParam, _: Hearing) {
        tell_of("notifications/resources/updated", params);
    }

    async fn on_tool_list_changed(&self, _: Hearing) {
        tell_of("notifications/tools/list_changed", Value::Null);
    }
}

type Client = RunningService<RoleClient, Told>;
type Answered = Result<Value, ServiceError>;

fn plain(result: impl Serialize) -> Value {
    serde_json::to_value(result).expect("results are JSON")
}

/// A call that may be stopped: the SDK tells the server of it.
async fn call_unless_stopped(
    client: &Client,
    request: ClientRequest,
    stop: oneshot::Receiver<()>,
) -> Answered {
    let options = PeerRequestOptions::no_options();
    let mut call = client.send_cancellable_request(request, options).await?;
    tokio::select! {
        answer = &mut call.rx => answer.map_err(|_| ServiceError::TransportClosed)?.map(plain),
        _ = stop => {
            call.cancel(Some("enough".to_owned())).await?;
            Err(ServiceError::Cancelled { reason: None })
        }
    }
}

/// Tells the changes of a subscription until it is stopped.
async fn follow(mut subscription: Subscription, mut stop: oneshot::Receiver<()>) {
    loop {
        tokio::select! {
            change = subscription.next() => match change {
                Ok(Some(change)) => tell(&plain(change)),
                ended => return eprintln!("the subscription ended: {ended:?}"),
            },
            _ = &mut stop => {
                let _ = subscription.cancel().await;
                return;
            }
        }
    }
}

async fn perform(client: &Client, method: &str, params: Value, stop: oneshot::Receiver<()>) -> Answered {
    match method {
        // These three go on by themselves when the server asks something before it answers.
        "tools/call" => client.call_tool(typed(params)).await.map(plain),
        "prompts/get" => client.get_prompt(typed(params)).await.map(plain),
        "resources/read" => client.read_resource(typed(params)).await.map(plain),
        "subscriptions/listen" => {
            let subscription = client.listen(typed(params)).await?;
            tokio::spawn(follow(subscription, stop));
            Ok(json!({}))
        }
        "stoppable" => call_unless_stopped(client, typed(params), stop).await,
        _ => client.send_request(typed(json!({"method": method, "params": params}))).await.map(plain),
    }
}

fn failure(error: &ServiceError) -> Value {
    match error {
        ServiceError::McpError(error) => plain(error),
        other => json!({"message": other.to_string()}),
    }
}

async fn connect(revision: &str, url: &str, answers: Arc<Mutex<Value>>) -> Result<Client, Failure> {
    let modern = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match revision {
        "auto" => ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: None },
        _ if revision >= "2026" => ClientLifecycleMode::Discover { preferred_versions: modern },
        _ => ClientLifecycleMode::Initialize,
    };
    let told = Told { revision: (revision < "2026").then(|| revision.to_owned()), answers };
    let config = StreamableHttpClientTransportConfig::with_uri(url);
    let client =
        told.serve_with_lifecycle(StreamableHttpClientTransport::from_config(config), lifecycle).await?;
    let agreed = client.peer_info().ok_or("the server told nothing of itself")?;
    tell_of("connected", agreed.protocol_version.as_str());
    Ok(client)
}

pub async fn run(revision: &str, url: &str) -> Result<(), Failure> {
    let answers = Arc::new(Mutex::new(Value::Null));
    let client = Arc::new(connect(revision, url, answers.clone()).await?);
    let mut stops: HashMap<u64, oneshot::Sender<()>> = HashMap::new();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let mut order: Value = serde_json::from_str(&line)?;
        if let Some(agreed) = order.get_mut("answers") {
            *answers.lock().expect("no panic") = agreed.take();
        } else if let Some(id) = order["stop"].as_u64() {
            // Dropping the sender stops as well.
            stops.remove(&id);
        } else {
            let id = order["id"].as_u64().ok_or("an order has no id")?;
            let (sender, stop) = oneshot::channel();
            stops.insert(id, sender);
            let client = client.clone();
            tokio::spawn(async move {
                let method = order["method"].as_str().unwrap_or_default().to_owned();
                match perform(&client, &method, order["params"].take(), stop).await {
                    Ok(result) => tell(&json!({"id": id, "result": result})),
                    Err(error) => tell(&json!({"id": id, "error": failure(&error)})),
                }
            });
        }
    }
    drop(stops);
    if let Ok(client) = Arc::try_unwrap(client) {
        client.cancel().await?;
    }
    Ok(())
}
