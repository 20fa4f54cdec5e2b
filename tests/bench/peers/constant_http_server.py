"""The constant server over HTTP, without sessions and with plain JSON answers,
which is the least that it can do for a call. Prints its port.
SPDX-License-Identifier: Apache-2.0
"""
import asyncio
import socket

from constant_server import mcp


def main():
    # The protocol is named, or asyncio would not set TCP_NODELAY.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM,
                             socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    print(listener.getsockname()[1], flush=True)
    asyncio.run(mcp.run_http_async(
        show_banner=False, log_level="error", stateless_http=True,
        json_response=True, sockets=[listener],
        uvicorn_config={"access_log": False}))


if __name__ == "__main__":
    main()
