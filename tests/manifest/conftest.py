"""Short functions for the messages of errors."""

from collections.abc import Callable

import pytest

from kueuepy.manifest import ManifestError, load


@pytest.fixture
def refused() -> Callable[[str], list[str]]:
    """Return the errors of strict loading: field and reason, without location."""

    def refuse(text: str) -> list[str]:
        with pytest.raises(ManifestError) as error:
            load(text)
        return [str(problem) for _, problem in error.value.problems]

    return refuse
