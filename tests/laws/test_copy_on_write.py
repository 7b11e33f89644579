"""Dicts that forks share: the same contents in the same order as plain dicts, whatever forks change."""

from hypothesis import given
from hypothesis import strategies as st

from kueuepy import ResourceFlavor
from kueuepy.session.store import CopyOnWriteDict, Store, commit

KEYS = st.integers(0, 200)
STEPS = st.lists(st.tuples(st.sampled_from(["put", "put", "drop", "fork", "switch"]), KEYS), max_size=400)


def same(found, expected):
    assert found.keys() == tuple(expected)
    assert list(found.values()) == list(expected.values())
    assert len(found) == len(expected)
    assert all(found.get(key) == expected.get(key) for key in range(201))


@given(st.integers(0, 150), STEPS)
def test_forks_of_a_dict_are_plain_dicts(size, steps):
    first = CopyOnWriteDict()
    for key in range(size):
        first.put(key, f"start {key}")
    pairs = [(first, {key: f"start {key}" for key in range(size)})]
    for number, (step, key) in enumerate(steps):
        found, expected = pairs[-1]
        if step == "put":
            found.put(key, number)
            expected[key] = number
        elif step == "drop":
            commit(found.dropping(key))
            expected.pop(key, None)
        elif step == "fork":
            pairs.append((found.fork(), dict(expected)))
        else:
            pairs.append(pairs.pop(key % len(pairs)))
    for found, expected in pairs:
        same(found, expected)


def test_a_fork_copies_no_items_to_change_one():
    first = CopyOnWriteDict()
    for key in range(10_000):
        first.put(key, key)
    twin = first.fork()
    twin.put(3, "other")
    commit(twin.dropping(5))
    first.put(7, "mine")
    assert twin._items is first._items
    assert (first.get(3), twin.get(3), twin.get(5), first.get(5)) == (3, "other", None, 5)
    assert (first.get(7), twin.get(7)) == ("mine", 7)


def test_forks_of_a_store_change_apart():
    other = Store()
    assert other.for_change() is other
    other.jobs.put("a", {"of": "all"})
    assert other.lend() is other
    first, twin = other.for_change(), other.for_change()
    twin.jobs.put("a", {"of": "twin"})
    first.objects.put((ResourceFlavor, "f"), ResourceFlavor("f"))
    assert twin.for_change() is twin
    twin.jobs.put("b", {"of": "twin"})
    commit(first.forgetting("a"))
    assert [store.jobs.get("a") for store in (first, twin, other)] == [None, {"of": "twin"}, {"of": "all"}]
    assert [store.jobs.keys() for store in (first, twin, other)] == [(), ("a", "b"), ("a",)]
    assert [store.objects.of(ResourceFlavor) for store in (first, twin, other)] == [(ResourceFlavor("f"),), (), ()]
