"""Reads extractions with the generated client, and writes each as JSON in a line. Arguments: the address of the API, and ids."""

import json
import sys
from uuid import UUID

from cosecha_client import Client
from cosecha_client.api.extractions import get_extraction

with Client(base_url=sys.argv[1], raise_on_unexpected_status=True) as client:
    for extraction_id in sys.argv[2:]:
        extraction = get_extraction.sync(UUID(extraction_id), client=client)
        print(type(extraction).__name__, json.dumps(extraction.to_dict()))
