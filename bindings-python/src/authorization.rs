//! The OAuth client as a machine.

use barewire::auth::{
    Action, ActionFailure, ActionHandle, ActionKind, ApplicationType, AssertionAudience,
    Authorization as Machine, AuthorizationConfig, AuthorizationError, AuthorizationEvent,
    ClientAuthentication, ClientRegistration as Registration, CodeGrant, DpopKey, EnterpriseGrant, Grant,
    Refusal, SaveOutcome, Secret, SecretMethod, SigningKey, SigningRequest as CoreSigningRequest,
    StoredRecord, SubjectTokenType, dpop_proof as core_dpop_proof,
};
use barewire::{ApiMisuse, Error, Seed, UnixTime};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{self, Text, bytes32};
use crate::errors;
use crate::guard::Guarded;

records! {
    /// Give the machine what is stored: `loaded`.
    LoadRecord { action: u64 }
    /// Store a record if the store still has the generation `expected`, 0 if it must have none: `saved`, or
    /// `save_conflicted`.
    SaveRecord { action: u64, expected: u64, generation: u64, text: Secret }
    /// Carry out a request, with no redirects and no cookies: `receive_response`.
    SendRequest {
        action: u64,
        purpose: &'static str,
        method: &'static str,
        url: HiddenUrl,
        headers: HiddenHeaders,
        body: HiddenBytes,
        response_bytes: usize,
    }
    /// Have the user visit a URL: `receive_callback`.
    OpenUserAgent { action: u64, url: HiddenUrl, redirect_uri: Box<str> }
    /// Sign: `signed`.
    SignInput { action: u64, request: CoreSigningRequest }
    /// Ask the user for a client that is registered with an authorization server: `client_provided`.
    ProvideClient { action: u64, issuer: Box<str> }
    /// Get an assertion that is valid now: `assertion_provided`.
    ProvideAssertion { action: u64, issuer: Box<str>, resource: Box<str> }

    /// There is something to try.
    AuthorizationSettled { waiter: u64 }
    /// There is not.
    AuthorizationRefused { waiter: u64, error: AuthorizationError }

    /// What goes with one request.
    Credentials { generation: u64, authorization: Option<Secret>, proof: Option<CoreSigningRequest> }
}

/// A URL whose query is not shown.
pub(crate) struct HiddenUrl(Box<str>);

/// Headers whose values are not shown.
pub(crate) struct HiddenHeaders(Vec<(&'static str, Secret)>);

/// Bytes that are not shown.
pub(crate) struct HiddenBytes(Secret);

impl convert::ToPython for HiddenUrl {
    const IS_SECRET: bool = true;

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.to_python(py)
    }
}

impl convert::ToPython for HiddenHeaders {
    const IS_SECRET: bool = true;

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pairs = self.0.iter().map(|(name, value)| (*name, value.expose()));
        Ok(pyo3::types::PyList::new(py, pairs)?.into_any())
    }
}

impl convert::ToPython for HiddenBytes {
    const IS_SECRET: bool = true;

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyBytes::new(py, self.0.expose().as_bytes()).into_any())
    }
}

/// Bytes to be signed with a key of the host.
#[pyclass(frozen, module = "barewire._native")]
pub(crate) struct SigningRequest(pub(crate) CoreSigningRequest);

#[pymethods]
impl SigningRequest {
    /// Which key: `"client"` or `"dpop"`.
    #[getter]
    fn key(&self) -> &'static str {
        match self.0.key {
            SigningKey::Dpop => "dpop",
            _ => "client",
        }
    }

    /// The client whose key it is; none for the other key.
    #[getter]
    fn client_id(&self) -> Option<&str> {
        match &self.0.key {
            SigningKey::Client { client_id } => Some(client_id),
            _ => None,
        }
    }

    #[getter]
    fn algorithm(&self) -> &str {
        &self.0.algorithm
    }

    /// What is signed.
    #[getter]
    fn input<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.input.expose().as_bytes())
    }

    fn __repr__(&self) -> String {
        format!("SigningRequest(key={:?}, algorithm={:?})", self.key(), self.algorithm())
    }
}

/// The value of the `DPoP` header.
#[pyfunction]
pub(crate) fn dpop_proof(request: &SigningRequest, signature: &[u8]) -> String {
    core_dpop_proof(&request.0, signature).expose().into()
}

const FAILURES: [(ActionFailure, &str); 4] = [
    (ActionFailure::Unavailable, "unavailable"),
    (ActionFailure::TooLarge, "too_large"),
    (ActionFailure::Forbidden, "forbidden"),
    (ActionFailure::Declined, "declined"),
];
const METHODS: [(SecretMethod, &str); 2] = [(SecretMethod::Basic, "basic"), (SecretMethod::Post, "post")];
const AUDIENCES: [(AssertionAudience, &str); 2] =
    [(AssertionAudience::Issuer, "issuer"), (AssertionAudience::TokenEndpoint, "token_endpoint")];
const APPLICATIONS: [(ApplicationType, &str); 2] =
    [(ApplicationType::Native, "native"), (ApplicationType::Web, "web")];
const SUBJECT_TOKENS: [(SubjectTokenType, &str); 2] =
    [(SubjectTokenType::IdToken, "id_token"), (SubjectTokenType::Saml2, "saml2")];

/// A client as one authorization server knows it.
///
/// It authenticates with `secret`, or with a JWT that is signed with `algorithm`, or not at all.
#[pyclass(frozen, module = "barewire._native")]
pub(crate) struct ClientRegistration(Registration);

#[pymethods]
impl ClientRegistration {
    #[new]
    #[pyo3(signature = (
        client_id, *, issuer = None, secret = None, method = None, algorithm = None, key_id = None,
        audience = "issuer"
    ))]
    fn new(
        client_id: &str,
        issuer: Option<&str>,
        secret: Option<&str>,
        method: Option<&str>,
        algorithm: Option<&str>,
        key_id: Option<&str>,
        audience: &str,
    ) -> PyResult<ClientRegistration> {
        let authentication = match (secret, algorithm) {
            (None, None) => ClientAuthentication::None,
            (Some(secret), None) => ClientAuthentication::Secret {
                secret: secret.into(),
                method: method.map(|method| convert::kind_named(&METHODS, method)).transpose()?,
            },
            (None, Some(algorithm)) => ClientAuthentication::PrivateKeyJwt {
                algorithm: algorithm.into(),
                key_id: key_id.map(Into::into),
                audience: convert::kind_named(&AUDIENCES, audience)?,
            },
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err("a client has a secret or a key, not both"));
            }
        };
        Ok(ClientRegistration(Registration::new(issuer, client_id, authentication)))
    }

    #[getter]
    fn client_id(&self) -> &str {
        &self.0.client_id
    }

    #[getter]
    fn issuer(&self) -> Option<&str> {
        self.0.issuer.as_deref()
    }

    fn __repr__(&self) -> String {
        format!("ClientRegistration({:?})", &*self.0.client_id)
    }
}

/// The authorization of one principal at one server, as a machine.
#[pyclass(module = "barewire._native")]
pub(crate) struct Authorization(Guarded<Machine>);

fn run<R>(
    this: &Bound<'_, Authorization>,
    work: impl FnOnce(&mut Machine) -> Result<R, Error>,
) -> PyResult<R> {
    // The borrow ends with this statement, before an exception is made.
    let outcome = this.try_borrow_mut()?.0.call(work);
    outcome.map_err(|error| errors::raised(this.py(), &error))
}

fn tell(this: &Bound<'_, Authorization>, verb: impl FnOnce(&mut Machine)) -> PyResult<()> {
    run(this, |machine| {
        verb(machine);
        Ok(())
    })
}

const fn at(now: u64) -> UnixTime {
    UnixTime::from_millis(now)
}

const fn handle(action: u64) -> ActionHandle {
    ActionHandle::from_number(action)
}

/// The parts of a stored record.
type Record = (u64, String);

fn stored(record: Option<Record>) -> Option<StoredRecord> {
    record.map(|(generation, text)| StoredRecord { generation, text: Secret::from(text) })
}

/// The grant of this name, with what it takes of the arguments.
#[allow(clippy::too_many_arguments, reason = "each is a named setting")]
fn grant(
    name: &str,
    redirect_uri: Option<&str>,
    client_name: Option<&str>,
    application_type: Option<&str>,
    metadata_client: Option<&ClientRegistration>,
    asks_for_client: bool,
    token_endpoint: Option<&str>,
    provider_client: Option<&ClientRegistration>,
    subject_token_type: &str,
) -> PyResult<Grant> {
    let missing = |what: &str| PyValueError::new_err(format!("the grant {name:?} needs {what}"));
    Ok(match name {
        "authorization_code" => {
            let redirect_uri = redirect_uri.ok_or_else(|| missing("redirect_uri"))?;
            let mut grant = CodeGrant::new(redirect_uri, client_name.unwrap_or_default());
            match (&mut grant.dynamic_registration, client_name) {
                (registration, None) => *registration = None,
                (None, Some(_)) => {}
                (Some(registration), Some(_)) => {
                    let named = application_type.map(|name| convert::kind_named(&APPLICATIONS, name));
                    registration.application_type = named.transpose()?;
                }
            }
            grant.metadata_client = metadata_client.map(|client| client.0.clone());
            grant.asks_for_client = asks_for_client;
            Grant::AuthorizationCode(grant)
        }
        "client_credentials" => Grant::ClientCredentials,
        "enterprise" => {
            let endpoint = token_endpoint.ok_or_else(|| missing("token_endpoint"))?;
            let client = provider_client.ok_or_else(|| missing("provider_client"))?;
            let mut grant = EnterpriseGrant::new(endpoint, client.0.clone());
            grant.subject_token_type = convert::kind_named(&SUBJECT_TOKENS, subject_token_type)?;
            Grant::Enterprise(grant)
        }
        "workload_identity" => Grant::WorkloadIdentity,
        _ => {
            return Err(PyValueError::new_err(format!(
                "{name:?} is none of authorization_code, client_credentials, enterprise, workload_identity"
            )));
        }
    })
}

#[pymethods]
impl Authorization {
    #[new]
    #[pyo3(signature = (
        *, server_url, grant, seed, redirect_uri = None, client_name = None, application_type = None,
        metadata_client = None, asks_for_client = false, token_endpoint = None, provider_client = None,
        subject_token_type = "id_token", clients = Vec::new(), scopes = None, wants_refresh = true,
        dpop_algorithm = None, dpop_public_key = None, dpop_required = false, legacy_endpoints = false,
        callback_timeout = None, renew_before = None, response_bytes = None
    ))]
    #[allow(clippy::needless_pass_by_value, reason = "what is read from Python is owned")]
    #[allow(clippy::too_many_arguments, reason = "each is a named setting")]
    #[allow(clippy::fn_params_excessive_bools, reason = "they are named in Python")]
    fn new(
        py: Python<'_>,
        server_url: &str,
        grant: &str,
        seed: &[u8],
        redirect_uri: Option<&str>,
        client_name: Option<&str>,
        application_type: Option<&str>,
        metadata_client: Option<PyRef<'_, ClientRegistration>>,
        asks_for_client: bool,
        token_endpoint: Option<&str>,
        provider_client: Option<PyRef<'_, ClientRegistration>>,
        subject_token_type: &str,
        clients: Vec<PyRef<'_, ClientRegistration>>,
        scopes: Option<Vec<String>>,
        wants_refresh: bool,
        dpop_algorithm: Option<&str>,
        dpop_public_key: Option<Text<'_>>,
        dpop_required: bool,
        legacy_endpoints: bool,
        callback_timeout: Option<u64>,
        renew_before: Option<u64>,
        response_bytes: Option<usize>,
    ) -> PyResult<Authorization> {
        let grant = self::grant(
            grant,
            redirect_uri,
            client_name,
            application_type,
            metadata_client.as_deref(),
            asks_for_client,
            token_endpoint,
            provider_client.as_deref(),
            subject_token_type,
        )?;
        let mut config = AuthorizationConfig::new(server_url, grant, Seed::new(bytes32(seed, "the seed")?));
        config.clients = clients.iter().map(|client| client.0.clone()).collect();
        config.scopes = scopes.map(|scopes| scopes.into_iter().map(Into::into).collect());
        config.wants_refresh = wants_refresh;
        if let (Some(algorithm), Some(key)) = (dpop_algorithm, dpop_public_key) {
            let mut key = DpopKey::new(algorithm, key.to_json(py)?);
            key.is_required = dpop_required;
            config.dpop = Some(key);
        }
        config.legacy_endpoints = legacy_endpoints;
        config.callback_timeout = callback_timeout.unwrap_or(config.callback_timeout);
        config.renew_before = renew_before.unwrap_or(config.renew_before);
        config.response_bytes = response_bytes.unwrap_or(config.response_bytes);
        Guarded::new(|| Machine::new(config)).map(Authorization).map_err(|error| match error {
            Error::ApiMisuse(ApiMisuse::InvalidDefinition(member)) => {
                PyValueError::new_err(format!("{member} cannot be used"))
            }
            error => errors::raised(py, &error),
        })
    }

    /// Whether `credentials` gives the best there is.
    fn is_ready(this: &Bound<'_, Self>, now: u64) -> PyResult<bool> {
        run(this, |machine| Ok(machine.is_ready(at(now))))
    }

    /// What goes with a request to the server.
    fn credentials(this: &Bound<'_, Self>, method: &str, url: &str, now: u64) -> PyResult<Credentials> {
        let found = run(this, |machine| Ok(machine.credentials(at(now), method, url)))?;
        Ok(Credentials {
            generation: found.generation,
            authorization: found.authorization,
            proof: found.proof,
        })
    }

    /// Wait until there are credentials, or none without a challenge.
    fn acquire(this: &Bound<'_, Self>, waiter: u64, now: u64) -> PyResult<()> {
        tell(this, |machine| machine.acquire(at(now), waiter))
    }

    /// The server has refused a request.
    #[pyo3(signature = (waiter, status, challenges, generation, operation, now, *, dpop_nonce = None))]
    #[allow(clippy::too_many_arguments, reason = "they are named in Python")]
    #[allow(clippy::needless_pass_by_value, reason = "what is read from Python is owned")]
    fn challenge(
        this: &Bound<'_, Self>,
        waiter: u64,
        status: u16,
        challenges: Vec<String>,
        generation: u64,
        operation: &str,
        now: u64,
        dpop_nonce: Option<&str>,
    ) -> PyResult<()> {
        let challenges: Vec<&str> = challenges.iter().map(String::as_str).collect();
        let refusal = Refusal { status, challenges: &challenges, dpop_nonce, generation, operation };
        tell(this, |machine| machine.challenge(at(now), waiter, refusal))
    }

    /// The server gave a nonce with a response that is no refusal.
    fn note_nonce(this: &Bound<'_, Self>, nonce: &str) -> PyResult<()> {
        tell(this, |machine| machine.note_nonce(nonce))
    }

    /// The server took the token.
    fn note_success(this: &Bound<'_, Self>, generation: u64) -> PyResult<()> {
        tell(this, |machine| machine.note_success(generation))
    }

    /// The next thing to do, if any.
    fn poll_action<'py>(this: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let action = run(this, |machine| Ok(machine.poll_action()))?;
        action.map(|action| into_python(this.py(), action)).transpose()
    }

    /// What there is to tell, if anything.
    fn poll_event<'py>(this: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = this.py();
        Ok(match run(this, |machine| Ok(machine.poll_event()))? {
            Some(AuthorizationEvent::Settled { waiter }) => {
                Some(Bound::new(py, AuthorizationSettled { waiter })?.into_any())
            }
            Some(AuthorizationEvent::Refused { waiter, error }) => {
                Some(Bound::new(py, AuthorizationRefused { waiter, error })?.into_any())
            }
            _ => None,
        })
    }

    /// When to call `handle_timeout` at the latest, if ever.
    fn poll_timeout(this: &Bound<'_, Self>) -> PyResult<Option<u64>> {
        run(this, |machine| Ok(machine.poll_timeout().map(UnixTime::as_millis)))
    }

    /// Let time pass.
    fn handle_timeout(this: &Bound<'_, Self>, now: u64) -> PyResult<()> {
        tell(this, |machine| machine.handle_timeout(at(now)))
    }

    /// What the store holds, if anything.
    #[pyo3(signature = (action, record, now))]
    fn loaded(this: &Bound<'_, Self>, action: u64, record: Option<Record>, now: u64) -> PyResult<()> {
        tell(this, |machine| machine.loaded(at(now), handle(action), stored(record)))
    }

    /// It is stored.
    fn saved(this: &Bound<'_, Self>, action: u64, now: u64) -> PyResult<()> {
        tell(this, |machine| machine.saved(at(now), handle(action), SaveOutcome::Saved))
    }

    /// The store has another generation, and holds this.
    #[pyo3(signature = (action, record, now))]
    fn save_conflicted(
        this: &Bound<'_, Self>,
        action: u64,
        record: Option<Record>,
        now: u64,
    ) -> PyResult<()> {
        let outcome = SaveOutcome::Conflict(stored(record));
        tell(this, |machine| machine.saved(at(now), handle(action), outcome))
    }

    /// The response to a request, whole.
    #[allow(clippy::needless_pass_by_value, reason = "what is read from Python is owned")]
    fn receive_response(
        this: &Bound<'_, Self>,
        action: u64,
        status: u16,
        headers: Vec<(String, String)>,
        body: &[u8],
        now: u64,
    ) -> PyResult<()> {
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        tell(this, |machine| machine.receive_response(at(now), handle(action), status, &headers, body))
    }

    /// What the user agent brought back.
    fn receive_callback(this: &Bound<'_, Self>, query: &str, now: u64) -> PyResult<()> {
        let outcome = run(this, |machine| Ok(machine.receive_callback(at(now), query)))?;
        outcome.map_err(|error| errors::authorization_refused(this.py(), &error))
    }

    /// Whether the user is to come back.
    #[getter]
    fn awaits_callback(this: &Bound<'_, Self>) -> PyResult<bool> {
        run(this, |machine| Ok(machine.awaits_callback()))
    }

    /// The signature over what was to be signed.
    fn signed(this: &Bound<'_, Self>, action: u64, signature: &[u8], now: u64) -> PyResult<()> {
        tell(this, |machine| machine.signed(at(now), handle(action), signature))
    }

    /// A client that the user named.
    fn client_provided(
        this: &Bound<'_, Self>,
        action: u64,
        client: &ClientRegistration,
        now: u64,
    ) -> PyResult<()> {
        tell(this, |machine| machine.client_provided(at(now), handle(action), client.0.clone()))
    }

    /// An assertion that is valid now.
    fn assertion_provided(this: &Bound<'_, Self>, action: u64, assertion: &str, now: u64) -> PyResult<()> {
        tell(this, |machine| machine.assertion_provided(at(now), handle(action), assertion.into()))
    }

    /// An action was not carried out.
    fn fail_action(this: &Bound<'_, Self>, action: u64, failure: &str, now: u64) -> PyResult<()> {
        let failure = convert::kind_named(&FAILURES, failure)?;
        tell(this, |machine| machine.fail_action(at(now), handle(action), failure))
    }

    /// Give up what is under way.
    fn cancel(this: &Bound<'_, Self>, now: u64) -> PyResult<()> {
        tell(this, |machine| machine.cancel(at(now)))
    }

    /// Forget that it failed.
    fn reset(this: &Bound<'_, Self>) -> PyResult<()> {
        tell(this, Machine::reset)
    }
}

fn into_python(py: Python<'_>, action: Action) -> PyResult<Bound<'_, PyAny>> {
    let handle = action.handle.number();
    Ok(match action.kind {
        ActionKind::Load => Bound::new(py, LoadRecord { action: handle })?.into_any(),
        ActionKind::Save { expected, record } => {
            let StoredRecord { generation, text } = record;
            Bound::new(py, SaveRecord { action: handle, expected, generation, text })?.into_any()
        }
        ActionKind::Send(request) => {
            let request = SendRequest {
                action: handle,
                purpose: request.purpose.name(),
                method: request.method,
                url: HiddenUrl(request.url),
                headers: HiddenHeaders(request.headers),
                body: HiddenBytes(request.body),
                response_bytes: request.response_bytes,
            };
            Bound::new(py, request)?.into_any()
        }
        ActionKind::OpenUserAgent(visit) => {
            let redirect_uri = visit.redirect_uri;
            Bound::new(py, OpenUserAgent { action: handle, url: HiddenUrl(visit.url), redirect_uri })?
                .into_any()
        }
        ActionKind::Sign(request) => Bound::new(py, SignInput { action: handle, request })?.into_any(),
        ActionKind::ProvideClient { issuer } => {
            Bound::new(py, ProvideClient { action: handle, issuer })?.into_any()
        }
        ActionKind::ProvideAssertion { issuer, resource } => {
            Bound::new(py, ProvideAssertion { action: handle, issuer, resource })?.into_any()
        }
        _ => return Err(pyo3::exceptions::PyRuntimeError::new_err("an action that this version cannot do")),
    })
}
