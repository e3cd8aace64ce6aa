from __future__ import annotations

import pytest
from tests.laws.every import makers


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "law_name" in metafunc.fixturenames:
        metafunc.parametrize("law_name", sorted(makers()))
