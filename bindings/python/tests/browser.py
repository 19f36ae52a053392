# SPDX-License-Identifier: GPL-2.0-only
"""A page in Chromium without a window, through the DevTools protocol on a pair of pipes."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

# Gives the descriptors of its first two arguments the numbers 3 and 4, and becomes the third.
_STARTER = """
import fcntl, os, sys
high = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for number, descriptor in enumerate(high, start=3):
    os.dup2(descriptor, number)
    os.close(descriptor)
os.execv(sys.argv[3], sys.argv[3:])
"""

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser():
    """Return the path of a Chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Page:
    """A page: a context manager. `requests` and `complaints` collect what it does.

    The browser reads commands from its descriptor 3 and writes answers and events to 4, each a JSON
    text that ends with a zero byte.
    """

    def __init__(self, path, width=1280, height=900):
        self.requests = []
        self.complaints = []
        self._path = path
        self._size = (width, height)
        self._number = 0
        self._rest = b""
        self._answers = {}

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        home = self._stack.enter_context(
            tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True)
        )
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        options += ["--remote-debugging-pipe", f"--user-data-dir={home}", "--no-first-run"]
        options += ["--disable-background-networking", "--disable-component-update"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _STARTER, str(to_read), str(to_write), find_browser(), *options],
            pass_fds=(to_read, to_write),
            env={**os.environ, "HOME": home},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        try:
            target = self._send("Target.createTarget", url="about:blank", session=None)
            self._session = self._send(
                "Target.attachToTarget", targetId=target["targetId"], flatten=True, session=None
            )["sessionId"]
            for domain in ("Page", "Network", "Runtime", "Log"):
                self._send(f"{domain}.enable")
            width, height = self._size
            self._send(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=height,
                deviceScaleFactor=1,
                mobile=False,
            )
            self._send("Page.navigate", url=f"file://{os.path.abspath(self._path)}")
            self.wait("document.body && document.body.dataset.run")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._stack.close()

    def _send(self, method, session="", **parameters):
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 120
        while self._number not in self._answers:
            self._receive(deadline)
        answer = self._answers.pop(self._number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _receive(self, deadline):
        if not select.select([self._from], [], [], max(0, deadline - time.monotonic()))[0]:
            raise TimeoutError("the browser does not answer")
        data = os.read(self._from, 1 << 20)
        if not data:
            raise RuntimeError("the browser has ended")
        *messages, self._rest = (self._rest + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self._note(message["method"], message["params"])

    def _note(self, event, values):
        if event == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(values["exceptionDetails"]))
        elif event == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(values["args"]))
        elif event == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.complaints.append(values["entry"]["text"])

    def prefer(self, scheme):
        """Say which colors the reader prefers, "light" or "dark"."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._send("Emulation.setEmulatedMedia", features=features)

    def evaluate(self, expression):
        """Return the value of a JavaScript expression."""
        answer = self._send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait(self, expression, seconds=60):
        """Wait until an expression is true, and return its value."""
        deadline = time.monotonic() + seconds
        while True:
            with contextlib.suppress(RuntimeError):
                value = self.evaluate(expression)
                if value:
                    return value
            if time.monotonic() > deadline:
                raise TimeoutError(expression)
            time.sleep(0.05)

    def choose(self, selector, value):
        """Choose a value of a control, as its user does."""
        self.evaluate(
            f"(() => {{ const c = document.querySelector({json.dumps(selector)});"
            f" c.value = {json.dumps(value)}; c.dispatchEvent(new Event('change')); }})()"
        )

    def point(self, expression):
        """Move the mouse to the middle of an element, which is scrolled into view."""
        place = self.evaluate(
            f"(() => {{ const e = {expression}; e.scrollIntoView({{block: 'center'}});"
            " const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for shift in (3, 0):
            x, y = place
            self._send("Input.dispatchMouseEvent", type="mouseMoved", x=x + shift, y=y)

    def shoot(self, path, **clip):
        """Write a picture of the page, or of a part: x, y, width, height."""
        parameters = {"clip": {**clip, "scale": 1}, "captureBeyondViewport": True} if clip else {}
        answer = self._send("Page.captureScreenshot", format="png", **parameters)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))
