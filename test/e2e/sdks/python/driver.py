"""Drives one client of a Python SDK for the table test of refusals: commands in, outcomes out, one JSON object a line.

`driver.py mcp1|mcp2|fastmcp legacy|modern`. `{"id":1,"do":"open","url":"…","headers":{}}`, `{"id":2,"do":"call","tool":"echo","text":"hi"}`.
"""

import asyncio
import contextlib
import json
import logging
import sys

sdk, era = sys.argv[1:3]
logging.disable(logging.CRITICAL)


@contextlib.asynccontextmanager
async def opened(url: str, headers: dict[str, str]):
    """A connected client: an object with `call_tool(name, arguments)`."""
    mode = "2026-07-28" if era == "modern" else "legacy"
    if sdk == "fastmcp":
        from fastmcp import Client
        from fastmcp.client.transports import StreamableHttpTransport

        async with Client(StreamableHttpTransport(url, headers=headers), mode=mode) as client:
            yield client
    elif sdk == "mcp2":
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        async with create_mcp_http_client(headers=headers) as http:
            async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                yield client
    else:
        from mcp import ClientSession
        from mcp.client.streamable_http import streamablehttp_client

        async with streamablehttp_client(url, headers=headers) as (read, write, _):
            async with ClientSession(read, write) as client:
                await client.initialize()
                yield client


class Session:
    """Holds the client's context open in a task, which ends early when the SDK's own tasks fail."""

    def __init__(self, url: str, headers: dict[str, str]):
        self.client: asyncio.Future = asyncio.get_running_loop().create_future()
        self.closing = asyncio.Event()
        self.task = asyncio.create_task(self.hold(url, headers))

    async def hold(self, url: str, headers: dict[str, str]) -> None:
        async with opened(url, headers) as client:
            self.client.set_result(client)
            await self.closing.wait()

    async def first(self, work) -> object:
        """The outcome of `work`, or the error that ended the session before there was one."""
        await asyncio.wait({work, self.task}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        if isinstance(work, asyncio.Task):
            work.cancel()
        error = None if self.task.cancelled() else self.task.exception()
        raise RuntimeError(f"the session has ended: {error!r}")


session: Session | None = None


async def perform(command: dict) -> str:
    global session
    if command["do"] == "open":
        session = Session(command["url"], command["headers"])
        await session.first(session.client)
        return ""
    if command["do"] == "close":
        session.closing.set()
        await asyncio.wait({session.task})
        return ""
    client = session.client.result()
    call = asyncio.ensure_future(client.call_tool(command["tool"], {"text": command["text"]}))
    result = await session.first(call)
    return result.content[0].text


async def obey(line: str) -> None:
    command = json.loads(line)
    try:
        outcome = {"ok": True, "text": await perform(command)}
    except BaseException as error:
        outcome = {"ok": False, "text": repr(error)}
    print(json.dumps({"id": command["id"], **outcome}), flush=True)


async def main() -> None:
    tasks = set()
    while line := await asyncio.to_thread(sys.stdin.readline):
        task = asyncio.create_task(obey(line))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


asyncio.run(main())
