"""KV caches of language models: what a tier of memory does for requests.

::

    import cxloom as cx

    requests = cx.kv.read_requests("conversation.jsonl")
    cx.kv.hits(requests, tiers=[{"name": "dram", "blocks": 10_000, "policy": "s3-fifo"}])["hit_share"]
    print(cx.kv.serve("serving.yaml").sentence)

`requests` reads traces and draws requests, `model` has shapes and closed forms, `hits` plays requests without time,
`spec` reads the file of a serving run, `serving` runs it. What happens in them is `core/workload/kv` and
`core/system/serving`; their numbers are defined in ``docs/model/kv.md``.
"""

from cxloom.kv.hits import hits
from cxloom.kv.model import Model, first_token_seconds, model, models
from cxloom.kv.requests import Requests, generate_requests, read_requests
from cxloom.kv.serving import Served, serve

__all__ = [
    "Model",
    "Requests",
    "Served",
    "first_token_seconds",
    "generate_requests",
    "hits",
    "model",
    "models",
    "read_requests",
    "serve",
]
