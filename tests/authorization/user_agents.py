"""Users who log in and consent: one that follows redirects and fills in forms, one with Chromium."""

from __future__ import annotations

import shutil
import subprocess
from html.parser import HTMLParser
from urllib.parse import urljoin

import httpx2
from authorization_server import NODE, WORK

CHROMIUM = shutil.which("chromium")
#: Redirects and pages on the way, at most.
STEPS = 20
#: Seconds for a browser to get through.
PATIENCE = 180.0


class _Page(HTMLParser):
    """The form of a page, if it has one."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.has_form = False
        self.fields: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "form":
            self.has_form = True
        elif tag == "input":
            self.fields.add(dict(attributes).get("name") or "")


class UserAgent:
    """A browser without a screen: it keeps cookies, so that who has logged in stays so.

    `agrees` is False for a user who cancels where consent is asked for. `visited` are the addresses of pages
    and redirects, in order.
    """

    def __init__(self, name: str = "alice", *, agrees: bool = True) -> None:
        self.name = name
        self.agrees = agrees
        self.visited: list[str] = []
        self._client = httpx2.Client(trust_env=False, timeout=PATIENCE)

    def open(self, url: str) -> str:
        """Open a page, and do what it asks for until it asks for nothing; the text at the end."""
        response = self._client.get(url)
        for _ in range(STEPS):
            address = str(response.request.url)
            self.visited.append(address)
            page = _Page(response.text)
            if response.is_redirect:
                response = self._client.get(urljoin(address, response.headers["location"]))
            elif not page.has_form:
                return response.text
            elif "login" in page.fields:
                response = self._client.post(address, data={"login": self.name, "answer": "yes"})
            else:
                response = self._client.post(address, data={"answer": "yes" if self.agrees else "no"})
        raise AssertionError(f"this leads nowhere: {self.visited}")

    def redirect(self, url: str, redirect_uri: str) -> str:
        """As `open`, up to the redirect to a client, which is not followed; its address."""
        try:
            self.open(url)
        except httpx2.ConnectError as error:
            address = str(error.request.url)
            if address.startswith(redirect_uri):
                return address
            raise
        raise AssertionError(f"this does not lead to the client: {self.visited}")


def browse(url: str, name: str = "alice") -> str:
    """What a user with Chromium gets to see in the end."""
    done = subprocess.run(
        [str(NODE), str(WORK / "browser.mjs"), str(CHROMIUM), url, name],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


if __name__ == "__main__":  # what opens pages in place of a browser: `user_agents.py URL`
    import sys

    UserAgent().open(sys.argv[1])
