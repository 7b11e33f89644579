"""Short functions for the messages of errors."""

from collections.abc import Callable

import pytest

from kueuepy.manifest import ManifestError, load


@pytest.fixture
def refused() -> Callable[[str], list[str]]:
    """What strict loading says is wrong with a text: field and reason, without the place."""

    def refuse(text: str) -> list[str]:
        with pytest.raises(ManifestError) as error:
            load(text)
        return [str(problem) for _, problem in error.value.problems]

    return refuse
