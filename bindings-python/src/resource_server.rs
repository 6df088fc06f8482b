//! A protected server: its metadata, and its judgement of requests.

use std::cell::RefCell;

use barewire::auth::resource_server::{
    self, Denial, DenialReason, Principal as CorePrincipal, ResourceServer as Rules, ResourceServerConfig,
};
use barewire::{ApiMisuse, Error, UnixTime};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::{self, Text};
use crate::errors;
use crate::http_server::Headers;

records! {
    /// A refusal, ready to be sent.
    AccessDenied { reason: &'static str, status: u16, challenge: Box<str> }
}

/// Who a request comes from.
#[pyclass(frozen, module = "barewire._native")]
pub(crate) struct Principal(CorePrincipal);

#[pymethods]
impl Principal {
    #[getter]
    fn issuer(&self) -> &str {
        &self.0.issuer
    }

    #[getter]
    fn subject(&self) -> &str {
        &self.0.subject
    }

    #[getter]
    fn client(&self) -> Option<&str> {
        self.0.client.as_deref()
    }

    #[getter]
    fn scopes(&self) -> Vec<&str> {
        self.0.scopes.iter().map(|scope| &**scope).collect()
    }

    #[getter]
    fn expires_at(&self) -> Option<u64> {
        self.0.expires_at.map(UnixTime::as_millis)
    }

    /// The same for the same issuer, subject and client, and for no others.
    #[getter]
    fn key(&self) -> String {
        self.0.key()
    }

    fn __repr__(&self) -> String {
        format!("Principal(issuer={:?}, subject={:?})", &*self.0.issuer, &*self.0.subject)
    }
}

const REASONS: [(DenialReason, &str); 9] = [
    (DenialReason::NoToken, "no_token"),
    (DenialReason::Malformed, "malformed"),
    (DenialReason::InvalidToken, "invalid_token"),
    (DenialReason::Expired, "expired"),
    (DenialReason::NotYetValid, "not_yet_valid"),
    (DenialReason::WrongIssuer, "wrong_issuer"),
    (DenialReason::WrongAudience, "wrong_audience"),
    (DenialReason::Bound, "bound"),
    (DenialReason::InsufficientScope, "insufficient_scope"),
];

impl From<Denial> for AccessDenied {
    fn from(denial: Denial) -> Self {
        let Denial { reason, status, challenge, .. } = denial;
        let reason =
            REASONS.iter().find(|(known, _)| *known == reason).map_or("invalid_token", |(_, name)| name);
        AccessDenied { reason, status, challenge }
    }
}

/// The rules of a protected server, without I/O.
#[pyclass(frozen, module = "barewire._native")]
pub(crate) struct ResourceServer(Rules);

/// Owned texts, borrowed.
fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

#[pymethods]
#[allow(clippy::needless_pass_by_value, reason = "what is read from Python is owned")]
impl ResourceServer {
    #[new]
    #[pyo3(signature = (
        *, resource, authorization_servers, scopes = Vec::new(), audiences = Vec::new(), name = None,
        documentation = None, leeway = None
    ))]
    #[allow(clippy::too_many_arguments, reason = "each is a named setting")]
    fn new(
        py: Python<'_>,
        resource: &str,
        authorization_servers: Vec<String>,
        scopes: Vec<String>,
        audiences: Vec<String>,
        name: Option<&str>,
        documentation: Option<&str>,
        leeway: Option<u64>,
    ) -> PyResult<ResourceServer> {
        let mut config = ResourceServerConfig::new(resource, &borrowed(&authorization_servers));
        config.scopes = scopes.into_iter().map(Into::into).collect();
        config.audiences = audiences.into_iter().map(Into::into).collect();
        config.name = name.map(Into::into);
        config.documentation = documentation.map(Into::into);
        config.leeway = leeway.unwrap_or(config.leeway);
        Rules::new(config).map(ResourceServer).map_err(|error| match error {
            Error::ApiMisuse(ApiMisuse::InvalidDefinition(member)) => {
                PyValueError::new_err(format!("{member} cannot be used"))
            }
            error => errors::raised(py, &error),
        })
    }

    /// The protected resource metadata, as JSON.
    fn metadata(&self) -> Vec<u8> {
        self.0.metadata().into_bytes()
    }

    /// The paths at which to serve it.
    #[getter]
    fn metadata_paths(&self) -> Vec<&str> {
        self.0.metadata_paths().iter().map(|path| &**path).collect()
    }

    /// Where challenges say that it is.
    #[getter]
    fn metadata_url(&self) -> &str {
        self.0.metadata_url()
    }

    /// A refusal; without `scopes`, with those of the configuration.
    #[pyo3(signature = (reason, scopes = None))]
    fn deny(&self, reason: &str, scopes: Option<Vec<String>>) -> PyResult<AccessDenied> {
        let reason = convert::kind_named(&REASONS, reason)?;
        Ok(match scopes {
            Some(scopes) => self.0.deny(reason, &borrowed(&scopes)).into(),
            None => self.0.deny_unknown(reason).into(),
        })
    }

    /// The token of a request.
    #[pyo3(signature = (headers, query = None))]
    fn bearer<'py>(
        &self,
        py: Python<'py>,
        headers: Headers<'_>,
        query: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match headers.with(|headers| resource_server::bearer(headers, query)) {
            Ok(token) => Ok(pyo3::types::PyString::new(py, token.expose()).into_any()),
            Err(reason) => Ok(Bound::new(py, AccessDenied::from(self.0.deny_unknown(reason)))?.into_any()),
        }
    }

    /// Judge the claims of a genuine token.
    fn judge<'py>(&self, py: Python<'py>, claims: Text<'_>, now: u64) -> PyResult<Bound<'py, PyAny>> {
        match self.0.judge(&claims.to_json(py)?, UnixTime::from_millis(now)) {
            Ok(principal) => Ok(Bound::new(py, Principal(principal))?.into_any()),
            Err(denial) => Ok(Bound::new(py, AccessDenied::from(denial))?.into_any()),
        }
    }

    /// Whether what needs these scopes may be done; a refusal if not.
    #[pyo3(signature = (principal, needed, implies = None))]
    fn authorize(
        &self,
        principal: &Principal,
        needed: Vec<String>,
        implies: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Option<AccessDenied>> {
        let failure = RefCell::new(None);
        let outcome = self.0.authorize(&principal.0, &borrowed(&needed), |granted, needed| {
            let Some(implies) = &implies else { return false };
            let answer = implies.call1((granted, needed)).and_then(|answer| answer.is_truthy());
            answer.unwrap_or_else(|error| {
                failure.replace(Some(error));
                false
            })
        });
        match failure.into_inner() {
            Some(error) => Err(error),
            None => Ok(outcome.err().map(Into::into)),
        }
    }

    fn __repr__(&self) -> String {
        format!("ResourceServer(metadata_url={:?})", self.0.metadata_url())
    }
}
