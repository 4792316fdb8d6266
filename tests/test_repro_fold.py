"""A script does what its probe does: the same calls with the same arguments in the same order, or there is none."""

import pytest

from conformance.repro.values import UnfoldableError
from tests import repro_toys
from tests.repro_random import Writer
from tests.repro_world import Toys


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    made = Toys(tmp_path_factory.mktemp("toys"), "folded_toys")
    yield made
    made.close()


def logs(toys, text):
    probe = toys.module(repro_toys.HEAD + text).probe
    return toys.logs(probe, dict(zip(probe.__code__.co_varnames[2:], probe.__defaults__ or (), strict=False)))


@pytest.mark.parametrize("name", repro_toys.RIGHT)
def test_the_script_does_what_the_probe_does(toys, name):
    expected, seen, script = logs(toys, repro_toys.RIGHT[name])
    assert seen == expected, script
    assert expected, "the toy does nothing"


@pytest.mark.parametrize(
    ("name", "says"), [("helpers that look at where they run", "os.environ"), ("data of modules", "sys.version_info")]
)
def test_what_may_be_otherwise_where_the_script_runs_is_left_to_it(toys, name, says):
    probe = toys.module(repro_toys.HEAD + repro_toys.RIGHT[name]).probe
    assert says in toys.script(probe, {"name": "x"} if probe.__defaults__ else {})


@pytest.mark.parametrize("name", repro_toys.EITHER)
def test_a_form_that_is_hard_gives_the_right_script_or_none(toys, name):
    try:
        expected, seen, script = logs(toys, repro_toys.EITHER[name])
    except UnfoldableError:
        return
    assert seen == expected, script


@pytest.mark.parametrize("seed", range(20))
def test_random_probes(toys, seed):
    expected, seen, script = logs(toys, Writer(seed).module())
    assert seen == expected, script


def test_a_keyword_that_is_no_name_is_refused(toys):
    for call in ('see(**{"a b": 1})', 'jax.f(**{"class": jax.g()})'):
        with pytest.raises(UnfoldableError, match="which is no name"):
            logs(toys, f"\ndef probe(jax, see):\n    {call}\n")


def test_a_helper_that_gives_its_reason_keeps_it(toys):
    probe = toys.module(repro_toys.HEAD + repro_toys.RIGHT["a helper that gives its reason"]).probe
    assert "It is 2 and `m`, so that it is so." in toys.script(probe, {"n": 2})


def test_what_is_returned_stands_in_the_script(toys):
    probe = toys.module(repro_toys.HEAD + repro_toys.RIGHT["a probe that returns a call"]).probe
    assert toys.script(probe, {}) == "jax.f()"
