"""A headless browser for tests of pages: Debian's chromium-headless-shell, spoken to through a pipe.

Chromium's own protocol needs no driver, no port and no library: messages are JSON, each ended by a null character, on
the file descriptors 3 and 4 of the browser (https://chromedevtools.github.io/devtools-protocol/).
"""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

PROGRAM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
_PATIENCE = 60.0


class Browser:
    """A browser without a network."""

    def __init__(self) -> None:
        assert PROGRAM is not None
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        to_browser, self._send = os.pipe()
        self._receive, from_browser = os.pipe()

        def files() -> None:  # as the protocol numbers them
            os.dup2(to_browser, 63)
            os.dup2(from_browser, 64)
            os.dup2(63, 3)
            os.dup2(64, 4)

        self._process = subprocess.Popen(
            [PROGRAM, *_OPTIONS, f"--user-data-dir={self._profile}", "about:blank"],
            preexec_fn=files,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._rest = b""
        self._session = ""
        self._page: Path | None = None
        self.said: list[str] = []
        """What pages complained of: exceptions, errors on the console, requests that were made or failed."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )

    def close(self) -> None:
        """Ends the browser."""
        self._process.terminate()
        self._process.wait()
        os.close(self._send)
        os.close(self._receive)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Calls the browser and waits for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._note(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            some = os.read(self._receive, 1 << 16)
            assert some, "the browser has ended"
            self._rest += some
        text, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(text))

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.said.append(str(details.get("exception", {}).get("description", details["text"])))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.said.append(f"{params['type']}: {[each.get('value') for each in params['args']]}")
        elif method == "Log.entryAdded":
            self.said.append(f"{params['entry']['level']}: {params['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "blob:", "about:")):
                self.said.append(f"asked for {url}")

    # --- pages -------------------------------------------------------------------------------------------------------

    def open(
        self, page: Path, *, width: int = 1280, height: int = 900, dark: bool = False, paper: bool = False
    ) -> None:
        """Opens a page of a file in a window of this size, and waits until its plots are drawn.

        A page that is open stays as it is, but for the window and the colours.
        """
        self.look(dark=dark, paper=paper)
        self.resize(width, height)
        if page == self._page:
            self.value("scrollTo({top: 0, behavior: 'instant'})")
            return
        self.said.clear()
        self._page = page
        self.call("Page.navigate", url=page.resolve().as_uri())
        self.wait("document.readyState === 'complete' && document.documentElement.dataset.ready === 'yes'")

    def resize(self, width: int, height: int) -> None:
        """Gives the window this size; one as narrow as a phone is one."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def look(self, *, dark: bool = False, paper: bool = False) -> None:
        """Asks for dark colours, or for paper."""
        self.call(
            "Emulation.setEmulatedMedia",
            media="print" if paper else "screen",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, condition: str) -> None:
        """Waits until an expression is true."""
        self.wait_for(lambda: bool(self.value(condition)), condition)

    def wait_for(self, seen: Callable[[], bool], name: str) -> None:
        """Waits until what is asked for is seen; a page that is open may be painted later than its script says."""
        end = time.monotonic() + _PATIENCE
        while not seen():
            assert time.monotonic() < end, (name, self.said)
            time.sleep(0.03)

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of the first element, which is scrolled into view."""
        found = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()"
        )
        return (found[0], found[1], found[2], found[3])

    def hover(self, selector: str) -> None:
        """Moves the pointer to the middle of an element."""
        left, top, width, height = self.box(selector)
        self.point(left + width / 2, top + height / 2)

    def point(self, x: float, y: float) -> None:
        """Moves the pointer."""
        for step in (3, 0):  # it moves; it does not only appear
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x - step, y=y)

    def click(self, selector: str) -> None:
        """Clicks on the middle of an element."""
        left, top, width, height = self.box(selector)
        self.point(left + width / 2, top + height / 2)
        for kind in ("mousePressed", "mouseReleased"):
            place = {"x": left + width / 2, "y": top + height / 2, "button": "left", "clickCount": 1}
            self.call("Input.dispatchMouseEvent", type=kind, **place)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Presses the button of the mouse at one place and lets it go at another."""
        self.point(*start)
        for kind, (x, y) in (("mousePressed", start), ("mouseMoved", end), ("mouseReleased", end)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def press(self, key: str, code: int) -> None:
        """Presses a key."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text
            )

    def picture(self, *, whole: bool = False) -> np.ndarray:
        """What is seen of the page, or all of it: height, width, and red, green and blue from 0 to 255."""
        shown = self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole)
        )
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(shown["data"]))).convert("RGB"))

    def _clip(self, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
