"""A small server of the rosbridge protocol with one controller, for the tests of its client."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

from websockets.asyncio.server import ServerConnection, serve


class BridgeServer:
    """Answers goals of FollowJointTrajectory, and passes on what is published.

    Parameters
    ----------
    behaviour
        "succeed", "abort", "refuse", "silent" (never answers), or "vanish" (closes the connection).
    """

    def __init__(self, behaviour: str = "succeed") -> None:
        self.behaviour = behaviour
        self.received: list[dict[str, Any]] = []
        self.port = 0
        self._subscribed: dict[str, list[ServerConnection]] = {}
        self._ready, self._loop = threading.Event(), asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> BridgeServer:
        self._thread.start()
        assert self._ready.wait(10.0)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10.0)
        self._loop.close()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        async with serve(self._handle, "127.0.0.1", 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            self._ready.set()
            await self._stop.wait()

    async def _handle(self, connection: ServerConnection) -> None:
        async for text in connection:
            message = json.loads(text)
            self.received.append(message)
            if message["op"] == "subscribe":
                self._subscribed.setdefault(message["topic"], []).append(connection)
            elif message["op"] == "publish":
                for other in self._subscribed.get(message["topic"], []):
                    await other.send(json.dumps(message))
            elif message["op"] == "send_action_goal":
                await self._act(connection, message)
            elif message["op"] == "cancel_action_goal" and self.behaviour != "deaf":
                await self._result(connection, message, 5, {"error_code": 0, "error_string": "cancelled"})

    async def _act(self, connection: ServerConnection, goal: dict[str, Any]) -> None:
        names = goal["args"]["trajectory"]["joint_names"]
        last = goal["args"]["trajectory"]["points"][-1]
        if self.behaviour == "succeed":
            values = {"joint_names": names, "desired": last, "actual": last, "error": {}}
            await self._send(connection, goal, {"op": "action_feedback", "values": values})
            await self._result(connection, goal, 4, {"error_code": 0, "error_string": ""})
        elif self.behaviour == "abort":
            await self._result(connection, goal, 6, {"error_code": -4, "error_string": ""})
        elif self.behaviour == "refuse":
            await self._send(connection, goal, {"op": "action_result", "result": False, "status": 6, "values": {}})
        elif self.behaviour == "vanish":
            await connection.close()

    async def _result(self, connection: ServerConnection, goal: dict[str, Any], status: int, values: Any) -> None:
        await self._send(connection, goal, {"op": "action_result", "result": True, "status": status, "values": values})

    async def _send(self, connection: ServerConnection, goal: dict[str, Any], fields: dict[str, Any]) -> None:
        message = {"id": goal["id"], "action": goal["action"], **fields}
        await connection.send(json.dumps(message))
