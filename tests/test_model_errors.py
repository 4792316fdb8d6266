"""Bad input gets the classes of error that JAX's public API has, and messages that name what is wrong.

Every row of the tables is a user's call, put to the model and to the installed JAX (in a process of its own, by
tests/input_there.py), and to those of SHARDSPEC_PYTHONS.
"""

import json
import re
import sys

import pytest

from impl.model import namespace
from impl.model.dates import Contract
from impl.model.model import Model
from tests import input_there
from tests.test_stock_versions import OTHERS, told

BAD, GOOD = input_there.rows()
PYTHONS = [sys.executable, *OTHERS]
INTERNALS = re.compile(r"\n| at 0x|<class |Traceback|impl\.model|<locals>")
"""What no message shows: other lines than one, and how the model is made."""


@pytest.fixture(params=PYTHONS, ids=lambda it: str(PYTHONS.index(it)), scope="module")
def there(request):
    """What a JAX says."""
    answers = told(request.param, "shardy", "tests.input_there")
    if "bad" not in answers:
        pytest.skip(f"the tables are not for JAX {answers['version']}")
    return answers


@pytest.fixture(scope="module")
def jax(there):
    """The model as of that JAX."""
    return namespace.of(Model(8, contract=Contract(".".join(there["version"].split(".")[:3]))))


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input_is_refused_as_by_jax(jax, there, name):
    row = BAD[name]
    here = input_there.refused(jax, row.act)
    if row.why:
        assert here["classes"][:1] == [row.raises][: len(row.raises)], here["message"]
    elif row.fatal:
        assert here["classes"]
    else:
        theirs = there["bad"][name]
        assert theirs["classes"], f"JAX accepts it: {theirs['message']}"
        assert theirs["classes"][0] in here["classes"], (here["message"], theirs["message"])
    missing = [word for word in row.words if word not in here["message"]]
    assert not missing, here["message"]
    assert not here["classes"] or not INTERNALS.search(here["message"]), here["message"]
    assert not here["harmed"], "a refused call changes no array"


@pytest.mark.parametrize("name", sorted(name for name, row in BAD.items() if row.why))
def test_jax_still_answers_otherwise(there, name):
    theirs = there["bad"][name]["classes"][:1]
    assert theirs != [BAD[name].raises], "no difference any more: a plain row"


@pytest.mark.parametrize("name", sorted(GOOD))
def test_good_neighbours_are_accepted_as_by_jax(jax, there, name):
    here = json.loads(json.dumps(input_there.accepted(jax, GOOD[name])))
    assert here == there["good"][name]
    assert not str(here).startswith("refused"), "JAX refuses it too: bad input"
