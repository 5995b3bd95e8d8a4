"""A producer of the Arrow C data interface, made with ctypes: tables to test the reader with where pyarrow is not installed."""
import ctypes
import struct

Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Schema(ctypes.Structure):
    pass


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
                   ("dictionary", ctypes.POINTER(Schema)), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class Array(ctypes.Structure):
    pass


Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                  ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)), ("release", ctypes.c_void_p),
                  ("private_data", ctypes.c_void_p)]


class Stream(ctypes.Structure):
    pass


GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
LastError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))
Stream._fields_ = [("get_schema", GetSchema), ("get_next", GetNext), ("get_last_error", LastError), ("release", ctypes.c_void_p),
                   ("private_data", ctypes.c_void_p)]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

NUMBERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "f": "f", "g": "d"}


def bits(flags):
    packed = bytearray((len(flags) + 7) // 8)
    for i, flag in enumerate(flags):
        packed[i // 8] |= bool(flag) << i % 8
    return bytes(packed)


def text_buffers(values, offset_format):
    joined = [(value or "").encode() for value in values]
    ends = [sum(map(len, joined[:i])) for i in range(len(joined) + 1)]
    return [struct.pack(f"{len(ends)}{offset_format}", *ends), b"".join(joined)]


def view_buffers(values):
    views, data = b"", b""
    for value in values:
        text = (value or "").encode()
        if len(text) <= 12:
            views += struct.pack("<i12s", len(text), text)
        else:
            views += struct.pack("<i4sii", len(text), text[:4], 0, len(data))
            data += text
    return [views, data, struct.pack("<q", len(data))]


def buffers_of(format, values):
    valid = bits([value is not None for value in values])
    if format in ("u", "U"):
        return [valid, *text_buffers(values, "i" if format == "u" else "q")]
    if format == "vu":
        return [valid, *view_buffers(values)]
    if format == "b":
        return [valid, bits(values)]
    letter = "i" if format == "tdD" else "q" if format.startswith("t") else NUMBERS[format]
    return [valid, struct.pack(f"{len(values)}{letter}", *(0 if value is None else value for value in values))]


class Table:
    """columns: {name: (format, values)} or {name: (format of the codes, codes, format of the words, words)}. The first `offset` rows and
    those behind `length` are there and not part of the table."""

    def __init__(self, columns, offset=0, length=None, batches=1):
        self.kept = []
        self.released = []
        self.release = {kind: Release(self._marking(kind)) for kind in (Schema, Array, Stream)}
        self.columns, self.offset, self.batches = columns, offset, batches
        rows = len(next(iter(columns.values()))[1])
        self.length = rows - offset if length is None else length

    def _marking(self, kind):
        def release(address):
            kind.from_address(address).release = None
            self.released.append(kind)

        return release

    def _pointers(self, kind, items):
        pointers = (ctypes.POINTER(kind) * len(items))(*[ctypes.pointer(item) for item in items])
        self.kept.append((pointers, items))
        return pointers

    def _schema(self, format, name="", children=(), words=None):
        schema = Schema(format=format.encode(), name=name.encode(), flags=2, n_children=len(children),
                        release=self._own_release(Schema))
        schema.children = self._pointers(Schema, children)
        if words:
            schema.dictionary = ctypes.pointer(words)
        self.kept.append(schema)
        return schema

    def _own_release(self, kind):
        return ctypes.cast(self.release[kind], ctypes.c_void_p).value

    def _array(self, length, buffers, children=(), offset=0, words=None):
        held = [ctypes.create_string_buffer(data, max(1, len(data))) for data in buffers]
        pointers = (ctypes.c_void_p * max(1, len(held)))(*[ctypes.addressof(data) for data in held])
        array = Array(length=length, null_count=-1, offset=offset, n_buffers=len(buffers), n_children=len(children),
                      buffers=pointers, release=self._own_release(Array))
        array.children = self._pointers(Array, children)
        if words:
            array.dictionary = ctypes.pointer(words)
        self.kept.append((held, pointers, array))
        return array

    def schema(self):
        children = [self._schema(column[0], name, words=self._schema(column[2]) if len(column) > 2 else None)
                    for name, column in self.columns.items()]
        return self._schema("+s", children=children)

    def array(self):
        children = []
        for column in self.columns.values():
            words = self._array(len(column[3]), buffers_of(column[2], column[3])) if len(column) > 2 else None
            children.append(self._array(len(column[1]), buffers_of(column[0], column[1]), words=words))
        return self._array(self.length, [b""], children, offset=self.offset)

    def __arrow_c_array__(self, requested_schema=None):
        schema, array = self.schema(), self.array()
        return (new_capsule(ctypes.addressof(schema), b"arrow_schema", None), new_capsule(ctypes.addressof(array), b"arrow_array", None))


LAST_WORDS = ctypes.create_string_buffer(b"the disk is gone")


class Streamed(Table):
    """Tables of the same columns as a stream; None among them is a failure of the producer."""

    def __init__(self, tables):
        super().__init__(tables[0].columns)
        self.tables = list(tables)

    def __arrow_c_stream__(self, requested_schema=None):
        waiting = list(self.tables)

        def get_schema(_, out):
            out[0] = self.schema()
            return 0

        def get_next(_, out):
            if not waiting:
                out[0] = Array()
                return 0
            table = waiting.pop(0)
            if table is None:
                return 5
            out[0] = table.array()
            return 0

        stream = Stream(get_schema=GetSchema(get_schema),
                        get_next=GetNext(get_next),
                        get_last_error=LastError(lambda _: ctypes.addressof(LAST_WORDS)),
                        release=self._own_release(Stream))
        self.kept.append(stream)
        return new_capsule(ctypes.addressof(stream), b"arrow_array_stream", None)

    __arrow_c_array__ = property()
