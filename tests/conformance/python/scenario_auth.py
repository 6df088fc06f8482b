"""How the client of each authorization scenario comes by its tokens."""

from __future__ import annotations

from typing import Any

import barewire
import httpx2

Context = dict[str, Any]

#: The document that the suite takes for ours; nothing is there.
CLIENT_METADATA = "https://conformance-test.local/client-metadata.json"


class Passer:
    """A user who consents to everything: the servers of the suite send whoever comes back at once."""

    redirect_uri = "http://127.0.0.1:53123/callback"

    async def visit(self, url: str) -> str:
        """Where the authorization server leads."""
        async with httpx2.AsyncClient(trust_env=False) as browser:
            response = await browser.get(url)
        location: str = response.headers["location"]
        return location


def client_of(context: Context) -> barewire.OAuthClient:
    """The client that the suite has registered, if it has."""
    return barewire.OAuthClient(
        context["client_id"],
        issuer=context.get("issuer"),
        secret=context.get("client_secret"),
        key=context.get("private_key_pem"),
        algorithm=context.get("signing_algorithm", "ES256"),
    )


def enterprise(context: Context) -> barewire.EnterpriseManaged:
    """The identity provider of the suite vouches for its user."""
    return barewire.EnterpriseManaged(
        client_of(context),
        token_endpoint=context["idp_token_endpoint"],
        provider_client=barewire.OAuthClient(context["idp_client_id"], issuer=context["idp_issuer"]),
        assertion=lambda issuer, resource: context["idp_id_token"],
    )


def workload(context: Context) -> barewire.WorkloadIdentity:
    """The platform of the suite has given its workload a JWT."""
    return barewire.WorkloadIdentity(
        client_of(context), assertion=lambda issuer, resource: context["valid_jwt"]
    )


def consenting(context: Context, **settings: Any) -> barewire.OAuth:
    """A user of the suite consents."""
    known = [client_of(context)] if "client_id" in context else []
    return barewire.OAuth(
        known, client_metadata_url=CLIENT_METADATA, user_agent=Passer(), client_name="barewire", **settings
    )


def grant_for(name: str, context: Context) -> Any:
    """What `Client` takes as `auth` in a scenario; none where nothing is protected."""
    kind, _, scenario = name.partition("/")
    if kind != "auth":
        return None
    if scenario.startswith("client-credentials"):
        return barewire.ClientCredentials(client_of(context))
    if scenario in ("enterprise-managed-authorization", "cross-app-access-complete-flow"):
        return enterprise(context)
    if scenario == "wif-jwt-bearer":
        return workload(context)
    return consenting(
        context,
        dpop=scenario.startswith("dpop"),
        legacy_endpoints=scenario.startswith("2025-03-26"),
    )
