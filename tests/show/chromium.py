"""A real browser without a window, driven over its own pipe: what a page looks like and whether it complains."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

BINARY = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

#: Becomes the browser, with two pipes where it looks for them; by way of high numbers, since 3 or 4 may be one of them.
LAUNCH = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for number, pipe in zip((3, 4), pipes):
    os.dup2(pipe, number)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Chromium:
    """Chromium's DevTools protocol: JSON with a NUL after each message, in on descriptor 3, out on 4."""

    def __init__(self, profile: Path) -> None:
        (reads, self.into), (self.out, writes) = os.pipe(), os.pipe()
        assert BINARY is not None
        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
        command = [BINARY, *options, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(reads), str(writes), *command],
            pass_fds=(reads, writes),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(reads)
        os.close(writes)
        self.sent, self.buffer, self.session = 0, b"", ""
        #: What the pages wrote to the console, or the browser about them.
        self.complaints: list[str] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{part}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self.sent += 1
        message = {"id": self.sent, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.into, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.sent:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, page: Path, width: int, height: int = 900, *, dark: bool = False, media: str = "") -> None:
        """Show a file at a width in CSS pixels, and wait until it is there."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=media, features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        self.ask("Page.navigate", url=page.as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, expression: str) -> Any:
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        answer = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.ask("Page.printToPDF", printBackground=False)["data"]))

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)
        os.close(self.into)
        os.close(self.out)

    def _next(self) -> dict[str, Any]:
        """The next message; complaints are kept."""
        while b"\0" not in self.buffer:
            more = os.read(self.out, 1 << 16)
            assert more, "the browser went away"
            self.buffer += more
        raw, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(raw)
        kind = message.get("method")
        if kind in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Network.loadingFailed"):
            self.complaints.append(json.dumps(message["params"]))
        return message
