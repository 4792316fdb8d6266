"""What the tests of the model start from."""

import pytest

from impl.model import namespace
from impl.model.model import Model


@pytest.fixture
def model():
    return Model(8)


@pytest.fixture
def jax(model):
    return namespace.of(model)
