"""What the servers of ``workbench dashboard`` and ``workbench lab`` give to those who may not have it: paths
that lead out of the site, pages of other sites, callers without the token, other names for this machine."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from tests.browser.conftest import serve_verb
from tests.ollama_server import OllamaServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TOKEN = "a-token-for-tests"
SECRET = "nobody may read this"
UP = 20
"""Steps up that lead from any folder to the top of the disk."""


@dataclass(frozen=True)
class Site:
    """A running server, a kernel of its own, and the cookies of a browser that has logged in."""

    address: str
    page: str
    secret: Path
    cookies: str
    kernel: str

    @property
    def channels(self) -> str:
        return f"/api/kernels/{self.kernel}/channels"

    def status(self, path: str, *, method: str = "GET", **headers: str) -> int:
        return request(self.address, path, method=method, **headers)[0]

    def websocket(self, **headers: str) -> int:
        """The status that a websocket to the kernel gets: 101 where it opens."""

        async def connect() -> int:
            asked = HTTPRequest(f"ws://{self.address}{self.channels}", headers=headers, request_timeout=60)
            try:
                (await websocket_connect(asked)).close()
            except HTTPClientError as error:
                return error.code
            return 101

        return asyncio.run(connect())


def request(address: str, path: str, *, method: str = "GET", **headers: str) -> tuple[int, str, str]:
    """Status, text and cookies of the answer to a path that is sent as it is written."""
    connection = HTTPConnection(address, timeout=60)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in {"Content-Length": "0", **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    with connection.getresponse() as reply:
        cookies = [cookie.partition(";")[0] for cookie in reply.headers.get_all("Set-Cookie") or []]
        text = reply.read().decode("utf-8", "replace")
    connection.close()
    return reply.status, text, "; ".join(cookies)


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory, ollama: OllamaServer) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("dashboard")
    with serve_verb(home, ollama, "dashboard", token=TOKEN) as served:
        address = urlsplit(served.url).netloc
        status, page, cookies = request(address, f"/?token={TOKEN}")
        assert status == 200
        (kernel,) = set(re.findall(r'"kernelId": "([-0-9a-f]{36})"', page))
        yield Site(address, "/", _secret(home), cookies, kernel)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, ollama: OllamaServer) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("lab")
    with serve_verb(home, ollama, "lab", token=TOKEN) as served:
        address = urlsplit(served.url).netloc
        status, _, cookies = request(address, f"/lab?token={TOKEN}")
        assert status == 200
        authorised = {"Authorization": f"token {TOKEN}"}
        status, made, _ = request(address, "/api/kernels", method="POST", **authorised)
        assert status == 201
        yield Site(address, "/lab", _secret(home), cookies, json.loads(made)["id"])


@pytest.fixture(params=["dashboard", "lab"])
def site(request: pytest.FixtureRequest) -> Site:
    found: Site = request.getfixturevalue(request.param)
    return found


def _secret(home: Path) -> Path:
    path = home / "secret.txt"
    path.write_text(SECRET, encoding="utf-8")
    return path


# --- paths that lead out of the site ---------------------------------------------------------------

ROOTS = ["/", "/voila/templates/", "/voila/templates/workbench/static/", "/voila/static/", "/voila/files/",
         "/voila/api/themes/", "/voila/labextensions/", "/voila/api/shutdown/"]  # fmt: skip
LAB_ROOTS = ["/files/", "/api/contents/", "/static/", "/static/lab/", "/lab/extensions/", "/lab/api/themes/",
             "/nbconvert/html/", "/view/", *ROOTS]  # fmt: skip
WAYS = {
    "dots": lambda path: "../" * UP + path,
    "slashes in hexadecimal": lambda path: "..%2f" * UP + path,
    "dots in hexadecimal": lambda path: "%2e%2e/" * UP + path,
    "both in hexadecimal": lambda path: "%2e%2e%2F" * UP + path,
    "hexadecimal of hexadecimal": lambda path: "%252e%252e%252f" * UP + path,
    "backslashes": lambda path: "..\\" * UP + path,
    "backslashes in hexadecimal": lambda path: "..%5c" * UP + path,
    "dots further in": lambda path: "a/static/" + "../" * UP + path,
    "an absolute path": lambda path: "/" + path,
    "an absolute path in hexadecimal": lambda path: "%2f" + path,
    "a NUL before the end": lambda path: "../" * UP + path + "%00.css",
    "a NUL alone": lambda _: "%00",
}


@pytest.mark.parametrize("way", WAYS)
def test_no_path_leads_out_of_the_dashboards_site(dashboard: Site, way: str) -> None:
    place = str(dashboard.secret).lstrip("/")
    for root in ROOTS:
        for headers in ({}, {"Cookie": dashboard.cookies}):
            status, text, _ = request(dashboard.address, root + WAYS[way](place), **headers)
            assert SECRET not in text
            if way != "hexadecimal of hexadecimal":  # that is a name, if an odd one
                assert (root, status) == (root, 404)
            assert status < 500


@pytest.mark.parametrize(
    "path", ["workbench", "workbench/", "workbench/static", "workbench/static/", "a/b/c"]
)
def test_what_is_no_file_of_a_template_is_not_found(dashboard: Site, path: str) -> None:
    assert dashboard.status(f"/voila/templates/{path}") == 404
    assert dashboard.status("/voila/templates/lab/static/index.css") == 200


@pytest.mark.parametrize("way", WAYS)
def test_no_path_leads_out_of_the_notebooks_folder(lab: Site, way: str) -> None:
    place = str(lab.secret).lstrip("/")
    for root in LAB_ROOTS:
        for headers in ({}, {"Cookie": lab.cookies}):
            _, text, _ = request(lab.address, root + WAYS[way](place), **headers)
            assert (root, SECRET in text) == (root, False)


# --- who may talk to a kernel ------------------------------------------------------------------------


def test_a_kernel_hears_the_page_of_its_own_server_and_no_other(site: Site) -> None:
    own, other = f"http://{site.address}", "http://elsewhere.example"
    assert site.websocket(Cookie=site.cookies, Origin=own) == 101
    assert site.websocket(Cookie=site.cookies, Origin=other) == 403
    assert site.websocket(Cookie=site.cookies, Origin="null") == 403  # of a sandboxed frame or a file
    assert site.websocket(Cookie=site.cookies, Origin=f"{own}0") == 403
    assert site.websocket(Origin=own) == 403
    assert site.websocket(Origin=other) == 403
    assert site.websocket() == 403


def test_without_the_token_nothing_is_told_or_done(site: Site) -> None:
    kernel = f"/api/kernels/{site.kernel}"
    for method in ("GET", "DELETE"):
        assert site.status(kernel, method=method) == 403
    refused = {403} if site.page == "/lab" else {302, 403}  # to the dashboard these are pages: to the login
    for path in ("/api/contents", "/api/kernels", "/api/sessions", "/api/terminals", "/api/kernelspecs"):
        assert (path, site.status(path) in refused) == (path, True)
        assert (path, site.status(path, Authorization="token a-guess") in refused) == (path, True)
        assert (path, site.status(path, method="POST") in {403, 405}) == (path, True)
    assert site.websocket(Cookie=site.cookies, Origin=f"http://{site.address}") == 101, "the kernel is gone"


def test_a_page_of_another_site_cannot_have_a_browser_end_or_start_a_kernel(site: Site) -> None:
    """The browser sends the cookies along; it says whose page asks."""
    foreign = {
        "Cookie": site.cookies,
        "Origin": "http://elsewhere.example",
        "Referer": "http://elsewhere.example/",
        "Sec-Fetch-Site": "cross-site",
    }
    assert site.status(f"/voila/api/shutdown/{site.kernel}", method="POST", **foreign) in {403, 404}
    assert site.status("/api/kernels", method="POST", **foreign) in {403, 404, 405}
    assert site.status(f"/api/kernels/{site.kernel}", method="DELETE", **foreign) in {403, 404}
    assert site.websocket(Cookie=site.cookies, Origin=f"http://{site.address}") == 101, "the kernel is gone"


def test_a_foreign_name_that_leads_here_is_refused(site: Site) -> None:
    """Or any page could be given such a name, and would be of the same origin as the server."""
    port = site.address.rpartition(":")[2]
    for name in (
        "elsewhere.example",
        f"elsewhere.example:{port}",
        "127.0.0.1.elsewhere.example",
        "192.0.2.1",
    ):
        named = {"Host": name, "Cookie": site.cookies}
        assert site.status(f"{site.page}?token={TOKEN}", **named) == 403
        assert site.status(f"/api/kernels/{site.kernel}", **named) == 403
        assert site.websocket(**named, Origin=f"http://{name}") == 403
    assert site.status(f"{site.page}?token={TOKEN}", Host=f"localhost:{port}") == 200
