"""Small extracts of OpenStreetMap, written byte by byte."""

from __future__ import annotations

import struct
import zlib


def encode_number(value):
    value &= (1 << 64) - 1
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def encode_field(number, value):
    if isinstance(value, int):
        return encode_number(number << 3) + encode_number(value)
    return encode_number(number << 3 | 2) + encode_number(len(value)) + value


def encode_packed(values, *, deltas=False):
    if deltas:
        values = [b - a for a, b in zip([0, *values], values, strict=False)]
        values = [value << 1 ^ value >> 63 for value in values]
    return b"".join(map(encode_number, values))


def encode_blob(kind, content, *, compressed=True):
    blob = (
        encode_field(2, len(content)) + encode_field(3, zlib.compress(content))
        if compressed
        else encode_field(1, content)
    )
    header = encode_field(1, kind) + encode_field(3, len(blob))
    return struct.pack(">I", len(header)) + header + blob


class TextTable(dict):
    """Numbers of texts, in the order of their first use; 0 is reserved."""

    def __missing__(self, text):
        self[text] = len(self) + 1
        return self[text]

    def encode(self):
        return b"".join(encode_field(1, text.encode()) for text in ["", *self])


def write_extract(file, nodes, ways=(), *, dense=True, compressed=True):
    """Write nodes (id, latitude, longitude, tags) and ways (id, nodes, tags)."""
    texts = TextTable()
    if dense:
        tags = [
            number
            for *_, own_tags in nodes
            for number in [*(texts[text] for pair in own_tags.items() for text in pair), 0]
        ]
        group = encode_field(1, encode_packed([node[0] for node in nodes], deltas=True))
        group += encode_field(8, encode_packed([round(node[1] * 1e7) for node in nodes], deltas=True))
        group += encode_field(9, encode_packed([round(node[2] * 1e7) for node in nodes], deltas=True))
        group = encode_field(2, group + encode_field(10, encode_packed(tags)))
    else:
        group = b""
        for number, latitude, longitude, tags in nodes:
            zigzag = [value << 1 ^ value >> 63 for value in (number, round(latitude * 1e7), round(longitude * 1e7))]
            node = encode_field(1, zigzag[0])
            node += encode_field(2, encode_packed([texts[key] for key in tags]))
            node += encode_field(3, encode_packed([texts[value] for value in tags.values()]))
            group += encode_field(1, node + encode_field(8, zigzag[1]) + encode_field(9, zigzag[2]))
    groups = [group]
    for number, own_nodes, tags in ways:
        way = encode_field(1, number)
        way += encode_field(2, encode_packed([texts[key] for key in tags]))
        way += encode_field(3, encode_packed([texts[value] for value in tags.values()]))
        groups.append(encode_field(3, way + encode_field(8, encode_packed(own_nodes, deltas=True))))
    block = encode_field(1, texts.encode()) + b"".join(encode_field(2, part) for part in groups)
    header = encode_field(4, b"OsmSchema-V0.6")
    file.write_bytes(encode_blob(b"OSMHeader", header) + encode_blob(b"OSMData", block, compressed=compressed))
    return file
