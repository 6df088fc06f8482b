//! Authorization (basic/authorization and its extensions): the OAuth client as a machine, and what a protected server says and
//! checks as pure functions.
//!
//! One [`Authorization`] serves one MCP server and one principal, whatever revision is spoken: its flow is the one of the
//! newest revision, which satisfies the others. It does no I/O. The host carries out its [`Action`]s, hands in what comes of
//! them, and asks for [`Credentials`] for each request to the MCP server:
//!
//! ```text
//! before a request:   if !is_ready(now) { acquire(now, waiter), wait for the event }; credentials(now, method, url)
//! after a 401 or 403: challenge(now, waiter, …), wait for the event; Settled: send it again, with new credentials
//!                     Refused: the request fails
//! after any verb:     poll_action() until None: carry it out, answer with the verb that its kind names
//!                     poll_event() until None
//!                     poll_timeout(): call handle_timeout at that time
//! ```
//!
//! Any number of requests may wait at once: they share one flow, and one refresh. Processes share them as well, through the
//! store: before a token is renewed the store is read, and what is stored replaces only what was read.
//!
//! | module | holds |
//! |---|---|
//! | [`resource_server`] | the other side: metadata, challenges, judging claims |
//! | `config`, `action`, `error`, `secret` | values that go in and out |
//! | `challenge`, `metadata`, `registration`, `pkce`, `callback`, `token`, `jwt`, `scopes`, `urls` | the rules, without state |
//! | `record` | what is stored |
//! | `flow` | what is under way, its beginning and end |
//! | `discovery`, `consent`, `grant`, `storing` | its steps |

mod action;
mod callback;
mod challenge;
mod config;
mod consent;
mod discovery;
mod error;
mod flow;
mod grant;
mod jwt;
mod metadata;
mod pkce;
mod record;
mod registration;
pub mod resource_server;
mod scopes;
mod secret;
mod storing;
#[cfg(test)]
mod tests;
mod token;
mod urls;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::error::{ApiMisuse, Error};
use crate::seed::Generator;
use crate::time::UnixTime;

use challenge::Challenge;
use flow::{Flow, Reason};
use record::Record;
use scopes::Scopes;
use urls::Plaintext;

use action::Answer;
pub use action::{
    Action, ActionFailure, ActionHandle, ActionKind, AuthorizationEvent, HttpPurpose, OAuthRequest,
    SaveOutcome, SigningKey, SigningRequest, StoredRecord, UserAgentVisit,
};
pub use config::{
    ApplicationType, AssertionAudience, AuthorizationConfig, ClientAuthentication, ClientRegistration,
    CodeGrant, DpopKey, DynamicRegistration, EnterpriseGrant, Grant, SecretMethod, SubjectTokenType,
};
pub use error::{AuthorizationError, OAuthError};
pub use secret::Secret;

/// The authorization of one principal at one MCP server.
///
/// What a host does when the MCP server refuses a request:
///
/// ```
/// use barewire::auth::{
///     ActionKind, Authorization, AuthorizationConfig, CodeGrant, Grant, HttpPurpose, Refusal,
/// };
/// use barewire::{Seed, UnixTime};
///
/// let now = UnixTime::from_millis(1_800_000_000_000);
/// let grant = Grant::AuthorizationCode(CodeGrant::new("http://127.0.0.1:7777/callback", "Example"));
/// // 32 bytes of the system's random source.
/// let seed = Seed::new([7; 32]);
/// let mut auth = Authorization::new(AuthorizationConfig::new("https://mcp.example/mcp", grant, seed))?;
///
/// // A request went out without a token, and came back.
/// let waiter = 1;
/// let refusal = Refusal {
///     status: 401,
///     challenges: &["Bearer scope=\"files:read\""],
///     dpop_nonce: None,
///     generation: 0,
///     operation: "tools/list",
/// };
/// auth.challenge(now, waiter, refusal);
/// let mut asked = Vec::new();
/// while let Some(action) = auth.poll_action() {
///     match action.kind {
///         // Nothing is stored yet.
///         ActionKind::Load => auth.loaded(now, action.handle, None),
///         ActionKind::Send(request) => {
///             asked.push((request.purpose, request.url));
///             auth.receive_response(now, action.handle, 503, &[], b"");
///         }
///         other => panic!("{other:?}"),
///     }
/// }
/// let place = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
/// assert_eq!(asked, [(HttpPurpose::ResourceMetadata, place.into())]);
/// // The server is out of order: whoever waits is told, and may try again later.
/// assert!(auth.poll_event().is_some());
/// # Ok::<(), barewire::Error>(())
/// ```
#[derive(Debug)]
pub struct Authorization {
    config: AuthorizationConfig,
    plaintext: Plaintext,
    generator: Generator,
    /// The latest time seen.
    now: UnixTime,
    state: State,
    /// What is stored, and what could not be stored.
    record: Record,
    /// The generation of the store when it was read or written last.
    stored: u64,
    token: TokenStanding,
    last_handle: u64,
    /// The action that an answer is awaited to, and what kind of answer.
    awaited: Option<(ActionHandle, Answer)>,
    actions: VecDeque<Action>,
    events: VecDeque<AuthorizationEvent>,
    /// Who waits for the flow.
    waiters: Vec<u64>,
    /// The nonces for proofs that were told last (RFC 9449, sections 8 and 9).
    server_nonce: Option<Box<str>>,
    resource_nonce: Option<Box<str>>,
    /// How often operations were tried with more scopes.
    step_ups: BTreeMap<Box<str>, u32>,
    /// Those of a token that was dropped.
    former_scopes: Scopes,
}

/// What is known of the current token beside what is stored.
#[derive(Clone, Copy, Debug, Default)]
struct TokenStanding {
    /// Counts the tokens of this machine; 0 before the first.
    generation: u64,
    /// It was issued to this machine, at this time.
    issued_at: Option<UnixTime>,
    /// It came by a refresh.
    is_refreshed: bool,
    /// The MCP server took it.
    has_worked: bool,
    /// How many tokens in a row the MCP server refused as soon as they were issued.
    refusals: u32,
}

/// Where the machine stands.
#[derive(Debug)]
enum State {
    /// The store was not read yet.
    Unread,
    /// Nothing is under way.
    Idle,
    /// Something is.
    Working(Box<Flow>),
    /// It failed, for a reason that will be there next time.
    Failed(AuthorizationError),
}

/// What goes with one request to the MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credentials {
    /// Names the token in [`Refusal::generation`]; 0: there is none.
    pub generation: u64,
    /// The value of `Authorization`; none without a token.
    pub authorization: Option<Secret>,
    /// What to sign with the key that the token is bound to; the JWT that [`dpop_proof`] makes of it is the value of `DPoP`.
    pub proof: Option<SigningRequest>,
}

/// The value of the `DPoP` header: a signing input and its signature (RFC 7515, section 7.1).
pub fn dpop_proof(request: &SigningRequest, signature: &[u8]) -> Secret {
    jwt::complete(&request.input, signature)
}

/// A 401 or 403 of the MCP server.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    /// Its status.
    pub status: u16,
    /// The values of `WWW-Authenticate`, in order.
    pub challenges: &'a [&'a str],
    /// The value of `DPoP-Nonce`.
    pub dpop_nonce: Option<&'a str>,
    /// The generation of the [`Credentials`] that went with the request.
    pub generation: u64,
    /// What was tried, for counting: the method and what it was called on, say.
    pub operation: &'a str,
}

/// Milliseconds after which a token that is refused need not have been useless from the start.
const YOUNG: u64 = 60_000;

/// Useless tokens in a row that are put up with.
const MOST_REFUSALS: u32 = 2;

impl Authorization {
    /// A machine that has not read its store yet.
    ///
    /// # Errors
    /// [`InvalidDefinition`](crate::ApiMisuse::InvalidDefinition) naming the member of the configuration that cannot be
    /// used: `server_url`, `redirect_uri`, `client_id` (of a metadata document: no https URL with a path), `token_endpoint`,
    /// `public_key`, `algorithm`.
    pub fn new(config: AuthorizationConfig) -> Result<Authorization, Error> {
        let plaintext = Plaintext::allowed_by(&config.server_url);
        if let Some(member) = flow::unusable_member(&config, plaintext) {
            return Err(ApiMisuse::InvalidDefinition(member).into());
        }
        Ok(Authorization {
            generator: Generator::new(&config.seed, "authorization"),
            plaintext,
            config,
            now: UnixTime::default(),
            state: State::Unread,
            record: Record::default(),
            stored: 0,
            token: TokenStanding::default(),
            last_handle: 0,
            awaited: None,
            actions: VecDeque::new(),
            events: VecDeque::new(),
            waiters: Vec::new(),
            server_nonce: None,
            resource_nonce: None,
            step_ups: BTreeMap::new(),
            former_scopes: Scopes::default(),
        })
    }

    /// Whether [`credentials`](Self::credentials) gives the best there is. If not, [`acquire`](Self::acquire) them first.
    pub fn is_ready(&self, now: UnixTime) -> bool {
        match &self.state {
            State::Idle => !self.wants_renewal(now),
            State::Failed(_) => true,
            State::Working(flow) => self.goes_on_beside(flow, now),
            State::Unread => false,
        }
    }

    /// What goes with a request to the MCP server: ask anew for each, also for one that is sent again. `method` and `url` are
    /// those of the request. A token goes to the origin of the MCP server only: elsewhere there is none.
    pub fn credentials(&mut self, now: UnixTime, method: &str, url: &str) -> Credentials {
        self.advance(now);
        self.write_credentials(method, url)
    }

    /// Waits until there are credentials, or none without a challenge. One event follows for `waiter`, a number of the host's.
    pub fn acquire(&mut self, now: UnixTime, waiter: u64) {
        self.advance(now);
        match &self.state {
            State::Unread => self.begin(Reason::Read, Challenge::default(), waiter),
            State::Idle if self.wants_renewal(self.now) => {
                self.begin(Reason::Renew, Challenge::default(), waiter);
            }
            State::Working(flow) if !self.goes_on_beside(flow, self.now) => self.waiters.push(waiter),
            State::Idle | State::Failed(_) | State::Working(_) => self.settle(waiter),
        }
    }

    /// The MCP server refused a request. One event follows for `waiter`.
    pub fn challenge(&mut self, now: UnixTime, waiter: u64, refusal: Refusal<'_>) {
        self.advance(now);
        let challenge = Challenge::read(refusal.challenges);
        if let Some(nonce) = refusal.dpop_nonce {
            self.note_nonce(nonce);
        }
        match &self.state {
            _ if refusal.status == 403 && !challenge.is_insufficient_scope() => {
                self.refuse(waiter, AuthorizationError::Forbidden);
            }
            State::Working(_) => self.waiters.push(waiter),
            State::Failed(error) => {
                let error = error.clone();
                self.refuse(waiter, error);
            }
            // It was sent with another token than the one that there is now, or the nonce alone was wrong.
            _ if !self.is_current(refusal.generation) => self.settle(waiter),
            _ if challenge.wants_nonce() && refusal.dpop_nonce.is_some() => self.settle(waiter),
            State::Unread | State::Idle if refusal.status == 403 => {
                self.on_forbidden(waiter, challenge, refusal.operation);
            }
            State::Unread | State::Idle => self.on_unauthorized(waiter, challenge),
        }
    }

    /// The MCP server gave a nonce with a response that was none of 401 and 403 (RFC 9449, section 8.2).
    pub fn note_nonce(&mut self, nonce: &str) {
        self.resource_nonce = flow::plain(nonce).or(self.resource_nonce.take());
    }

    /// The MCP server took the token: a later refusal says nothing against how it was come by.
    pub fn note_success(&mut self, generation: u64) {
        if generation != 0 && generation == self.current_generation() {
            self.token.has_worked = true;
            self.token.refusals = 0;
        }
    }

    /// The next thing to do, if any.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// What there is to tell, if anything.
    pub fn poll_event(&mut self) -> Option<AuthorizationEvent> {
        self.events.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest, if ever.
    pub fn poll_timeout(&self) -> Option<UnixTime> {
        match &self.state {
            State::Working(flow) => flow.deadline,
            _ => None,
        }
    }

    /// Lets time pass.
    pub fn handle_timeout(&mut self, now: UnixTime) {
        self.advance(now);
        self.expire();
    }

    /// What the store holds; none if that is nothing.
    pub fn loaded(&mut self, now: UnixTime, action: ActionHandle, record: Option<StoredRecord>) {
        if self.takes(now, action, Answer::Record) {
            self.on_loaded(record);
        }
    }

    /// What became of a record that was to be stored.
    pub fn saved(&mut self, now: UnixTime, action: ActionHandle, outcome: SaveOutcome) {
        if self.takes(now, action, Answer::Outcome) {
            self.on_saved(outcome);
        }
    }

    /// The response to an [`OAuthRequest`], whole.
    pub fn receive_response(
        &mut self,
        now: UnixTime,
        action: ActionHandle,
        status: u16,
        headers: &[(&str, &str)],
        body: &[u8],
    ) {
        if self.takes(now, action, Answer::Response) {
            self.on_response(status, headers, body);
        }
    }

    /// What the user agent brought back: the query of the request, or its whole target or URL, as it came.
    ///
    /// # Errors
    /// What to tell the user. If [`awaits_callback`](Self::awaits_callback) is true nevertheless, it was none of ours and the
    /// right one may still come; else the flow has failed.
    pub fn receive_callback(&mut self, now: UnixTime, query: &str) -> Result<(), AuthorizationError> {
        self.advance(now);
        self.on_callback(query)
    }

    /// Whether the user is to come back.
    pub fn awaits_callback(&self) -> bool {
        matches!(&self.state, State::Working(flow) if flow.awaits_callback())
    }

    /// The signature over [`SigningRequest::input`].
    pub fn signed(&mut self, now: UnixTime, action: ActionHandle, signature: &[u8]) {
        if self.takes(now, action, Answer::Signature) {
            self.on_signed(signature);
        }
    }

    /// A client that the user named. Its issuer is the one that was asked for.
    pub fn client_provided(&mut self, now: UnixTime, action: ActionHandle, client: ClientRegistration) {
        if self.takes(now, action, Answer::Client) {
            self.on_client_provided(client);
        }
    }

    /// An assertion that is valid now.
    pub fn assertion_provided(&mut self, now: UnixTime, action: ActionHandle, assertion: Secret) {
        if self.takes(now, action, Answer::Assertion) {
            self.on_assertion_provided(assertion);
        }
    }

    /// An action was not carried out.
    pub fn fail_action(&mut self, now: UnixTime, action: ActionHandle, failure: ActionFailure) {
        self.advance(now);
        if self.awaited.take_if(|(awaited, _)| *awaited == action).is_some() {
            self.on_action_failed(failure);
        }
    }

    /// Gives up what is under way. Whoever waits is refused, and so is whoever comes, until [`reset`](Self::reset).
    pub fn cancel(&mut self, now: UnixTime) {
        self.advance(now);
        if matches!(self.state, State::Working(_)) {
            self.fail(AuthorizationError::Cancelled);
        }
    }

    /// Forgets that it failed: the next challenge begins anew.
    pub fn reset(&mut self) {
        if matches!(self.state, State::Failed(_)) {
            self.state = State::Idle;
            self.token.refusals = 0;
            self.step_ups.clear();
        }
    }

    fn advance(&mut self, now: UnixTime) {
        self.now = self.now.max(now);
    }

    /// Whether this is the answer that is awaited; it is not any more then.
    fn takes(&mut self, now: UnixTime, action: ActionHandle, answer: Answer) -> bool {
        self.advance(now);
        self.awaited.take_if(|awaited| *awaited == (action, answer)).is_some()
    }
}
