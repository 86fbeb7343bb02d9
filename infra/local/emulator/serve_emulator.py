"""Serve MiniStack on 127.0.0.1 until the process that started it is gone: serve_emulator.py PORT (0: any free one).

Why not `python -m ministack`:
- the port: it is bound here, before anything else, so no other process can take it between choosing and serving; the
  number is written as one line to file descriptor 3, or the word `taken`.
- the end: the starter holds the other end of our standard input. However that process ends, SIGKILL included, we read
  end-of-file and take the whole process group, Lambda workers too, with us.
- with USE_SSL its main() also binds port 443 where it may (ministack/app.py, main).
"""

import asyncio
import contextlib
import errno
import os
import signal
import socket
import sys
import threading

REPORT = 3


def report(word: str) -> None:
    os.write(REPORT, f"{word}\n".encode())
    os.close(REPORT)


def bind(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # As asyncio's own servers do: a port whose last connections are still in TIME_WAIT can be bound again.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind(("127.0.0.1", port))
    return listener


def end_with_the_starter() -> None:
    while os.read(0, 4096):
        pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


def raise_file_limit() -> None:
    """As ministack's main(): a burst of connections must not stop at the soft limit."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS refuses its own "unlimited".
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main(port: int) -> None:
    try:
        listener = bind(port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        report("taken")
        return
    # Read by ministack when it is imported, and inherited by its Lambdas.
    os.environ["GATEWAY_PORT"] = str(listener.getsockname()[1])
    report(os.environ["GATEWAY_PORT"])
    threading.Thread(target=end_with_the_starter, daemon=True).start()
    raise_file_limit()

    from hypercorn.asyncio import serve
    from hypercorn.config import Config
    from ministack.app import app
    from ministack.core import tls

    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.keep_alive_timeout = 75
    config.graceful_timeout = 0.5
    if tls.use_ssl_enabled():
        config.certfile, config.keyfile = tls.resolve_tls_material()
    asyncio.run(serve(app, config))


main(int(sys.argv[1]))
