"""Decodes records of the stream of extractions, with the standard library and docs/schemas/stream-record.json alone.

A record is decoded in three steps: decide its kind (the table in docs/stream.md), validate it with the schema of that kind,
and remove the types of DynamoDB. An event of the bus and a line of `cosecha export` are decoded already, and only checked.
"""

import json
import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}
ANNOTATIONS = {"$schema", "$defs", "title", "description"}
TIME_TO_LIVE = ("Service", "dynamodb.amazonaws.com")


class NotOurs(Exception):
    """The record is not from the stream of extractions, or this reader is too old for it."""


def violations(value, rule, schema, path="record"):
    """Yields a sentence for each keyword that the value breaks. Raises ValueError for a keyword that it does not know."""
    for keyword, argument in rule.items():
        if keyword in ANNOTATIONS:
            continue
        elif keyword == "$ref":
            yield from violations(value, schema["$defs"][argument.removeprefix("#/$defs/")], schema, path)
        elif keyword == "type":
            if not isinstance(value, TYPES[argument]):
                yield f"{path} must be of the type {argument}"
        elif keyword == "const":
            if value != argument:
                yield f"{path} must be {argument}"
        elif keyword == "enum":
            if value not in argument:
                yield f"{path} must be one of {', '.join(argument)}"
        elif keyword == "pattern":
            if isinstance(value, str) and not re.search(argument, value):
                yield f"{path} must match {argument}"
        elif keyword == "minLength":
            if isinstance(value, str) and len(value) < argument:
                yield f"{path} must not be empty"
        elif keyword == "required":
            yield from (f"{path} lacks {name}" for name in argument if isinstance(value, dict) and name not in value)
        elif keyword == "dependentRequired":
            for name, others in argument.items():
                if isinstance(value, dict) and name in value:
                    yield from violations(value, {"required": others}, schema, path)
        elif keyword == "properties":
            for name, inner in argument.items():
                if isinstance(value, dict) and name in value:
                    yield from violations(value[name], inner, schema, f"{path}.{name}")
        elif keyword == "items":
            for index, item in enumerate(value if isinstance(value, list) else []):
                yield from violations(item, argument, schema, f"{path}[{index}]")
        elif keyword == "allOf":
            for inner in argument:
                yield from violations(value, inner, schema, path)
        elif keyword == "anyOf":
            found = [list(violations(value, inner, schema, path)) for inner in argument]
            if all(found):
                yield f"{path} fits no alternative, for example: {min(found, key=len)[0]}"
        elif keyword == "not":
            if not any(violations(value, argument, schema, path)):
                yield f"{path} must not be like this"
        else:
            raise ValueError(f"This reader does not know the keyword {keyword}.")


def kind_of(record):
    """The kind of a record, as the table in docs/stream.md decides it."""
    stream = record["dynamodb"]
    if record["eventName"] == "REMOVE":
        user = {name.lower(): value for name, value in (record.get("userIdentity") or {}).items()}
        by_time_to_live = (user.get("type"), user.get("principalid")) == TIME_TO_LIVE
        return "expired" if by_time_to_live else "erased"
    now, before = stream["NewImage"], stream.get("OldImage")
    if record["eventName"] == "INSERT":
        return "requested" if now["status"] == {"S": "REQUESTED"} else "restored"
    if now["status"] != before["status"]:
        if "settledAt" in now:
            return "corrected" if "settledAt" in before else "settled"
        return "reopened" if "settledAt" in before else "progressed"
    if "erasingAt" in now and "erasingAt" not in before:
        return "erasing"
    if "collectedAt" in now and "collectedAt" not in before:
        return "collected"
    if "collectionError" in now and now["collectionError"] != before.get("collectionError"):
        return "not-collected"
    return "advised" if now.get("advice") not in (None, before.get("advice")) else "housekeeping"


def plain(value):
    """A value without its type in DynamoDB."""
    [(name, inner)] = value.items()
    if name == "M":
        return {key: plain(one) for key, one in inner.items()}
    if name == "L":
        return [plain(one) for one in inner]
    return json.loads(inner) if name == "N" else inner


def unwrap(given):
    """The event in an event of the bus, or in its `detail`. Anything else is returned as it is."""
    for name in ("detail", "data"):
        given = given.get(name, given) if isinstance(given, dict) else given
    return given


def checked(event):
    """An event as JSON, with its sequence number as an integer."""
    try:
        if "extraction" in event and event["extraction"]["schemaVersion"] != 1:
            raise NotOurs("Its schemaVersion is not 1.")
        if "extraction" not in event and event["kind"] not in ("erased", "expired"):
            raise NotOurs("It has no extraction.")
        needed = {name: event[name] for name in ("kind", "eventId", "extractionId")}
        return {**event, **needed, "sequenceNumber": int(event["sequenceNumber"])}
    except (KeyError, TypeError, ValueError) as error:
        raise NotOurs("It is not an event of an extraction.") from error


def decode(given, schema):
    """The kind, the extraction and the identity of a record, an event of the bus, or a line of `export`.

    `extraction` is missing after a removal. Raises NotOurs, whose sentence has none of the content.
    """
    record = unwrap(given)
    if isinstance(record, dict) and "kind" in record:
        return checked(record)
    try:
        kind = kind_of(record)
    except (KeyError, TypeError, AttributeError) as error:
        raise NotOurs("It is not a record of the stream of extractions.") from error
    for problem in violations(record, {"$ref": f"#/$defs/{kind}"}, schema):
        raise NotOurs(f"It does not fit the schema of {kind}: {problem}.")
    stream = record["dynamodb"]
    event = {
        "kind": kind,
        "eventId": record["eventID"],
        "extractionId": stream["Keys"]["extractionId"]["S"],
        # Python's integers have as many digits as they need.
        "sequenceNumber": int(stream["SequenceNumber"]),
    }
    return event if "NewImage" not in stream else {**event, "extraction": plain({"M": stream["NewImage"]})}


def consume(batch, handle, schema):
    """Handles a batch of Lambda, or one event, in order, and returns the record to continue from.

    An error of the first record is raised. Only then does Lambda count it and split the batch (docs/stream.md).
    """
    for index, record in enumerate(batch["Records"] if "Records" in batch else [batch]):
        try:
            handle(decode(record, schema))
        except Exception:
            if index == 0:
                raise
            return {"batchItemFailures": [{"itemIdentifier": record["dynamodb"]["SequenceNumber"]}]}
    return {"batchItemFailures": []}
