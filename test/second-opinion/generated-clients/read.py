"""Reads extractions with the generated client, and writes each as JSON in a line. Of an address below /errors, it has every route parse what
the server answers there, and writes the errors. Arguments: the address of the API, and ids or such addresses.
"""

import importlib
import json
import pkgutil
import sys
from uuid import UUID

import cosecha_client.api
from cosecha_client import Client
from cosecha_client.api.extractions import get_extraction

modules = pkgutil.walk_packages(cosecha_client.api.__path__, "cosecha_client.api.")
routes = [importlib.import_module(module.name) for module in modules if not module.ispkg]

with Client(base_url=sys.argv[1]) as client:
    for argument in sys.argv[2:]:
        if not argument.startswith("/errors"):
            extraction = get_extraction.sync(UUID(argument), client=client)
            print(type(extraction).__name__, json.dumps(extraction.to_dict()))
            continue
        answer = client.get_httpx_client().get(argument)
        for route in routes:
            # What `sync_detailed` does with its answer.
            parsed = route._build_response(client=client, response=answer).parsed
            name = "".join(word.title() for word in route.__name__.split(".")[-1].split("_"))
            print("Error", argument, name, answer.status_code, json.dumps(parsed and parsed.to_dict()))
