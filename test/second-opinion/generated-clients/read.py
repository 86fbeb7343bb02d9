"""Reads extractions with the generated client, and writes each as JSON in a line, or the error that it got instead. Arguments: the address of
the API, and ids.
"""

import json
import sys
from uuid import UUID

from cosecha_client import Client
from cosecha_client.api.extractions import get_extraction

with Client(base_url=sys.argv[1]) as client:
    for extraction_id in sys.argv[2:]:
        answer = get_extraction.sync_detailed(UUID(extraction_id), client=client)
        name = type(answer.parsed).__name__ if answer.status_code == 200 else f"Error {answer.status_code}"
        print(name, json.dumps(answer.parsed and answer.parsed.to_dict()))
