"""Serve MiniStack on 127.0.0.1 until the process that started it ends: serve_emulator.py PORT (0: any free one).

This differs from `python -m ministack` in nine ways:
- Access: other users of the machine and pages in a browser reach 127.0.0.1 too, and MiniStack runs whatever code it is sent. So each request
  is checked first (see guarded), and only the key of this run is root (see with_own_key).
- Port: it is bound here first, so no other process can take it between choosing and serving. The number, or the word
  `taken`, is written as one line to file descriptor 3.
- End: the parent process holds the other end of standard input. However the parent ends, even by SIGKILL, this process
  reads end-of-file and kills its whole process group, with the Lambda workers.
- PartiQL: an insert is authorized as one, and streamed (see complete_inserts).
- Logs: FilterLogEvents has a next page (see paged_logs).
- Sessions: they are registered one at a time (see one_at_a_time).
- Updates: they let an invocation under way finish, as on AWS (see let_invocations_finish).
- HTTPS: with USE_SSL, ministack's own main() would also bind port 443 if permitted (ministack/app.py, main).
- Certificate: with USE_SSL, this writes one to MINISTACK_SSL_CERT, with its key. MiniStack needs the openssl command for its own
  (ministack/core/tls.py, resolve_tls_material), which a machine with Node and Python may lack.
"""

import asyncio
import contextlib
import datetime
import errno
import hmac
import ipaddress
import json
import os
import re
import secrets
import signal
import socket
import sys
import threading
from urllib.parse import parse_qs

REPORT = 3


def report(line: str) -> None:
    os.write(REPORT, f"{line}\n".encode())
    os.close(REPORT)


def bind(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # As in asyncio's own servers, so that a port with connections in TIME_WAIT can be bound again.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind(("127.0.0.1", port))
    return listener


def end_with_the_parent() -> None:
    while os.read(0, 4096):
        pass
    os.killpg(os.getpgrp(), signal.SIGKILL)


def raise_file_limit() -> None:
    """As in ministack's main(), so that a burst of connections does not stop at the soft limit."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS refuses its own "unlimited" limit.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def one_at_a_time(function):
    """Every start of a Lambda worker registers a session, in a thread of its own. In parallel, one may fail with
    "dictionary changed size during iteration", and its invocation is lost without a word to Step Functions."""
    lock = threading.Lock()

    def locked(*args, **kwargs):
        with lock:
            return function(*args, **kwargs)

    return locked


def let_invocations_finish():
    """MiniStack kills the processes of a function that is updated. A start of one that fails thereby kills all others once more
    (ministack/services/lambda_svc.py, _execute_function_warm): a poll of the machine, and then the consumer of the message about its broken
    execution, which is received again only after the visibility timeout. A worker's lock is held for its whole invocation."""
    from ministack.core import lambda_runtime

    kill = lambda_runtime.kill_workers

    def kill_idle(worker):
        with worker._lock:
            kill([worker])

    def kill_workers(workers):
        for worker in workers:
            threading.Thread(target=kill_idle, args=(worker,), daemon=True).start()

    lambda_runtime.kill_workers = kill_workers


def guarded(app, own_key: str, port: int):
    """Passes on only what a program of this user sent.

    A browser names the page in Origin, and a page that has its name resolved to this machine names itself in Host. Programs send neither.
    A request names the key of this run, of a role that was assumed with it, or of a user that was made with it. Each is random. Requests
    without a key are the health check and what the provider posts to the webhook. With AUTH, they are also requests to an API, whose routes
    then check them as on AWS.
    """
    from ministack.app import AUTH
    from ministack.core.router import extract_access_key_id
    from ministack.services import iam, sts

    # An API also has a host of its own. No page has a name below localhost: it is always this machine's (RFC 6761, section 6.3).
    own_host = re.compile(rf"(127\.0\.0\.1|(\w+\.execute-api\.)?localhost):{port}")
    api = r"\w+ /_aws/execute-api/\w+/\$default/.*" if AUTH else r"POST /_aws/execute-api/\w+/\$default/webhooks/provider"
    without_key = re.compile(rf"GET /_ministack/health|{api}")

    def allowed(scope) -> bool:
        headers = {}
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            # As MiniStack joins a header that is sent twice, so that it reads the same key.
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        if not own_host.fullmatch(headers.get("host", "")) or "origin" in headers:
            return False
        key = extract_access_key_id(headers, parse_qs(scope["query_string"].decode("latin-1")))
        if not key:
            return without_key.fullmatch(f"{scope.get('method')} {scope['path']}") is not None
        users = {user_key for _, user_key in iam._access_keys.to_dict()}
        return hmac.compare_digest(key.encode(), own_key.encode()) or key in sts._sessions or key in users

    async def guard(scope, receive, send):
        if scope["type"] not in ("http", "websocket") or allowed(scope):
            return await app(scope, receive, send)
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1008})
        print(f"refused: {scope['method']} {scope['path']}", flush=True)
        await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"Not from a page, and only with the access key of this run.\n"})

    return guard


def with_own_key(own_key: str):
    """Only the key of this run is root. MiniStack takes `test` and each key of twelve digits for root too, and checks no signature of them.

    A function has the key of this run, or with AUTH one of its role. MiniStack derives the latter from the ARNs of both, which everybody
    can do, so it is derived from a random secret here.
    """
    from ministack.app import AUTH
    from ministack.core import iam_evaluator, lambda_runtime
    from ministack.services import lambda_svc, sts

    def is_root(key: str) -> bool:
        return not key or hmac.compare_digest(key.encode(), own_key.encode())

    iam_evaluator.is_root_access_key = sts.is_root_access_key = is_root
    original = lambda_runtime.execution_credentials
    run_secret = secrets.token_bytes(32)

    def execution_credentials(config):
        if not AUTH:
            return {**original(config), "AWS_ACCESS_KEY_ID": own_key}
        function_arn, role_arn = config["FunctionArn"], config["Role"]
        role = role_arn.rsplit("/", 1)[-1]

        def derived(purpose: str) -> str:
            return hmac.new(run_secret, f"{purpose} {function_arn} {role_arn}".encode(), "sha256").hexdigest()

        key, secret, token = f"ASIA{derived('key')[:32].upper()}", derived("secret"), derived("token")
        sts.register_session(key, {
            "Arn": f"arn:aws:sts::{role_arn.split(':')[4]}:assumed-role/{role}/{config['FunctionName'][:64]}",
            "UserId": f"{role}:{config['FunctionName'][:64]}",
            "SecretAccessKey": secret,
            "SessionToken": token,
        })
        return {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": token}

    lambda_runtime.execution_credentials = execution_credentials
    lambda_svc.execution_credentials = execution_credentials


def complete_inserts():
    """AWS authorizes each statement of BatchExecuteStatement as `dynamodb:PartiQLInsert` of its table, and knows no action of that name
    (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html). MiniStack would ask for the action, on every table. And it
    has no stream record of an insert."""
    from ministack.core import iam_actions
    from ministack.services import dynamodb

    original = iam_actions.dynamodb_transaction_checks

    def checks(iam_action, body, region, account_id):
        if iam_action != "dynamodb:BatchExecuteStatement":
            return original(iam_action, body, region, account_id)
        statements = [one["Statement"] for one in json.loads(body)["Statements"]]
        inserts = [re.match(r'INSERT INTO "([\w.-]+)" ', statement) for statement in statements]
        # Without checks, MiniStack asks for the action that AWS does not know.
        if not all(inserts):
            return []
        tables = {match[1] for match in inserts}
        return [("dynamodb:PartiQLInsert", f"arn:aws:dynamodb:{region}:{account_id}:table/{table}") for table in tables]

    iam_actions.dynamodb_transaction_checks = checks
    insert = dynamodb._partiql_insert

    def streamed(table, parsed):
        answer = insert(table, parsed)
        if answer[0] == 200:
            dynamodb._emit_stream_event(parsed["table"], "INSERT", None, parsed["item"])
        return answer

    dynamodb._partiql_insert = streamed


def paged_logs():
    """FilterLogEvents returns at most 10,000 events, and MiniStack names no next page: the newest would be missing from every search. A page
    ends with the last whole millisecond, and the next begins there."""
    from ministack.services import cloudwatch_logs

    original = cloudwatch_logs._filter_log_events

    def paged(query):
        if "nextToken" in query:
            query = {**query, "startTime": int(query["nextToken"])}
        status, headers, body = original(query)
        answer = json.loads(body)
        events = answer.get("events", [])
        if len(events) < 10_000 or events[0]["timestamp"] == events[-1]["timestamp"]:
            return status, headers, body
        end = events[-1]["timestamp"]
        page = {"events": [event for event in events if event["timestamp"] < end], "nextToken": str(end)}
        return cloudwatch_logs.json_response({**answer, **page})

    cloudwatch_logs._filter_log_events = paged


def make_certificate(cert_path: str, key_path: str) -> None:
    """A key and a self-signed certificate for 127.0.0.1 and localhost."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    # A name of its own, as a client that trusts two certificates of one name may check one with the key of the other.
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"cosecha-local {secrets.token_hex(8)}")])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        # From a day ago, for clocks that differ, to a month ahead, as each run creates its own.
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    with open(os.open(key_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        out.write(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    with open(cert_path, "wb") as out:
        out.write(certificate.public_bytes(pem))


def main(port: int) -> None:
    try:
        listener = bind(port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        report("taken")
        return
    if "MINISTACK_SSL_CERT" in os.environ:
        make_certificate(os.environ["MINISTACK_SSL_CERT"], os.environ["MINISTACK_SSL_KEY"])
    # ministack reads it when it is imported, and its Lambda functions inherit it.
    port = listener.getsockname()[1]
    os.environ["GATEWAY_PORT"] = str(port)
    report(os.environ["GATEWAY_PORT"])
    threading.Thread(target=end_with_the_parent, daemon=True).start()
    raise_file_limit()

    from hypercorn.asyncio import serve
    from hypercorn.config import Config
    from ministack.app import app
    from ministack.core import tls
    from ministack.services import sts

    sts.register_session = one_at_a_time(sts.register_session)
    own_key = os.environ["AWS_ACCESS_KEY_ID"]
    with_own_key(own_key)
    complete_inserts()
    paged_logs()
    let_invocations_finish()
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.keep_alive_timeout = 75
    config.graceful_timeout = 0.5
    if tls.use_ssl_enabled():
        config.certfile, config.keyfile = tls.resolve_tls_material()
    asyncio.run(serve(guarded(app, own_key, port), config))


main(int(sys.argv[1]))
