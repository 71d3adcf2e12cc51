"""The recipe for nginx on the page about the server, with a real nginx, TLS and a certificate."""

import re
import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from serve.kit import ANN, ROOT, TOKENS, bearer, filled_store, running

NAME = "memories.example.com"
PAGE = ROOT / "docs" / "how_to" / "serve.md"

pytestmark = [
    pytest.mark.skipif(not shutil.which(each), reason=f"needs {each}")
    for each in ("nginx", "openssl")
]


def test_nginx_serves_it_with_tls_by_its_own_name(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    key, certificate = tmp_path / "memories.key", tmp_path / "memories.pem"
    options = f"-x509 -newkey rsa:2048 -nodes -subj /CN={NAME} -addext subjectAltName=DNS:{NAME}"
    words = ["openssl", "req", *options.split(), "-keyout", key, "-out", certificate]
    subprocess.run(words, check=True, capture_output=True)
    with filled_store() as store, running(store, tokens=TOKENS, allowed_hosts=(NAME,)) as server:
        store.add([{"id": "a/../b", "content": "Tea.", "user_id": "ann"}])
        [recipe] = re.findall(r"    server \{\n.*?\n    \}\n", PAGE.read_text("utf-8"), re.DOTALL)
        recipe = recipe.replace("listen 443", f"listen 127.0.0.1:{port}")
        recipe = recipe.replace("/etc/ssl/", f"{tmp_path}/").replace(
            "8002", str(server.base_url.port)
        )
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        folders = "".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in kinds)
        (tmp_path / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {tmp_path}/pid; error_log stderr;"
            f"events {{}} http {{ access_log off; {folders}\n{recipe} }}",
            encoding="utf-8",
        )
        nginx = subprocess.Popen(["nginx", "-p", tmp_path, "-c", tmp_path / "nginx.conf"])
        try:
            trusted = ssl.create_default_context(cafile=str(certificate))
            with httpx.Client(
                base_url=f"https://127.0.0.1:{port}", verify=trusted, timeout=30
            ) as client:
                check(client)
        finally:
            nginx.terminate()
            nginx.wait(10)


def check(client: httpx.Client) -> None:
    def got(path: str, **headers: str) -> httpx.Response:
        named = {"Host": NAME, **headers}
        return client.get(path, headers=named, extensions={"sni_hostname": NAME})

    for _ in range(100):
        try:
            assert got("/health").json() == {"status": "ok"}
            break
        except httpx.ConnectError:
            time.sleep(0.05)
    assert got("/count").status_code == 401
    ann, here = bearer(ANN), {"Origin": f"https://{NAME}"}
    assert got("/count", **ann, **here).json() == {"count": 3}
    assert got("/memories/a%2F..%2Fb", **ann).json()["content"] == "Tea."
    assert got("/count", **ann, Origin="https://evil.example").status_code == 403
    assert got("/count", **ann, Host="evil.example").status_code == 421
