"""Tables through the Arrow C data interface: every format that a column may have, nulls, offsets, dictionaries, streams, and what is
refused."""
import arrow
import pytest

import margin

PLAIN = {"task": ["q1", "q1", "a task with a long name", "q3"], "model": ["a", "b", "a", "b"], "confidence": [0.5, 0.25, None, 0.75],
         "correct": [1, 0, 1, None], "answer": ["x", None, "y", "x"]}


def table(**columns):
    default = {"task": ("u", PLAIN["task"]), "model": ("u", PLAIN["model"]), "confidence": ("g", PLAIN["confidence"]),
               "correct": ("g", PLAIN["correct"]), "answer": ("u", PLAIN["answer"])}
    return arrow.Table({**default, **columns})


def rows(data):
    # With nan != nan a comparison of lists would always fail.
    return [{
        name: "missing" if value != value else value
        for name, value in row.items()
    } for row in margin.predictions(data, "raw").records()]


@pytest.mark.parametrize("changed", [
    {},
    {
        "task": ("U", PLAIN["task"])
    },
    {
        "task": ("vu", PLAIN["task"]),
        "answer": ("vu", PLAIN["answer"])
    },
    {
        "correct": ("b", [True, False, True, None])
    },
    {
        "correct": ("l", PLAIN["correct"])
    },
    {
        "correct": ("C", PLAIN["correct"])
    },
    {
        "confidence": ("f", PLAIN["confidence"])
    },
    {
        "model": ("c", [0, 1, 0, 1], "u", ["a", "b"])
    },
    {
        "model": ("L", [1, 0, 1, 0], "vu", ["b", "a"])
    },
    {
        "extra": ("u", ["ignored"] * 4)
    },
    {
        "t": ("tsu:UTC", [1, None, 3, 4])
    },
    {
        "t": ("tdD", [1, None, 3, 4])
    },
    {
        "weight": ("g", [1, 1, None, 0.5])
    },
],
                         ids=str)
def test_a_table_is_the_same_log_in_every_format(changed):
    made = table(**changed)
    assert rows(made) == rows(PLAIN)
    assert made.released == [arrow.Array, arrow.Schema], "both are released, once"


def test_slices_begin_at_their_offset():
    made = arrow.Table(table().columns, offset=1, length=2)
    sliced = {name: values[1:3] for name, values in PLAIN.items()}
    assert rows(made) == rows(sliced)


def test_streams_are_read_to_their_end():
    more = table(task=("u", ["r1", "r1", "r2", "r3"]))
    streamed = arrow.Streamed([table(), more])
    both = {name: PLAIN[name] + (["r1", "r1", "r2", "r3"] if name == "task" else PLAIN[name]) for name in PLAIN}
    assert rows(streamed) == rows(both)
    assert streamed.released[-1] == arrow.Stream and streamed.released.count(arrow.Schema) == 1
    assert [table.released for table in streamed.tables] == [[arrow.Array], [arrow.Array]]


def test_scale_divides():
    percent = margin.read_log(arrow.Table({**table().columns, "confidence": ("C", [50, 25, None, 75])}), scale=100)
    assert rows(percent) == rows(PLAIN)


@pytest.mark.parametrize("made, error, message", [
    (lambda: table(confidence=("g", [0.5, 7, None, 0.5])), margin.InvalidArgument, "^row 1: confidence: got 7"),
    (lambda: table(confidence=("u", ["high"] * 4)), margin.InvalidArgument, "^row 0: confidence: got high"),
    (lambda: table(model=("u", ["a", None, "a", "b"])), margin.InvalidArgument, "^row 1: model"),
    (lambda: arrow.Table({"task": ("u", ["q"])}), margin.InvalidArgument, "^model: missing, expected a column"),
    (lambda: arrow.Streamed([table(), None]), margin.InvalidArgument, "the disk is gone"),
    (lambda: arrow.Streamed([table(), table()]), margin.Conflict, "second response"),
], ids=str)
def test_what_is_refused_is_named(made, error, message):
    with pytest.raises(error, match=message):
        margin.read_log(made())


def test_a_capsule_of_another_kind_is_refused():
    with pytest.raises(ValueError):
        margin.Log.from_arrow_stream(table().__arrow_c_array__()[0])


def test_a_capsule_is_used_up_once():
    schema, array = table().__arrow_c_array__()
    margin.Log.from_arrow_array(schema, array)
    with pytest.raises(margin.InvalidArgument, match="arrow_schema was used up before"):
        margin.Log.from_arrow_array(schema, array)
