"""The state machine for users, run on random clusters of every kind."""

from __future__ import annotations

import pytest
from hypothesis import settings

from kueuepy.testing import SchedulerMachine


class TestAnyHistory(SchedulerMachine.TestCase):
    settings = settings(settings.get_profile("dev"), max_examples=100, stateful_step_count=25)


class TestManyHistories(SchedulerMachine.TestCase):
    settings = settings(settings.get_profile("dev"), max_examples=500, stateful_step_count=25)


TestAnyHistory.pytestmark = [pytest.mark.sanitizer]
TestManyHistories.pytestmark = [pytest.mark.long]
