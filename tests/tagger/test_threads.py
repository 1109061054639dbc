"""How many threads a step of training gets."""

import pytest
import torch

from biplanar.tagger.threads import AGAIN, SLOWED, STEPS, ThreadTuner


class Machine:
    """Steps of 1,000 words, which take a time that depends on the number of threads."""

    def __init__(self, **seconds):
        self.now, self.used = 0.0, []
        self.seconds = {int(name[1:]): one for name, one in seconds.items()}
        self.tuner = ThreadTuner(max(self.seconds), clock=lambda: self.now)

    def run(self, steps):
        self.used = []
        for _ in range(steps):
            with self.tuner.step(1000):
                self.used.append(torch.get_num_threads())
                self.now += self.seconds[self.used[-1]]
        return self.used


@pytest.fixture(autouse=True)
def _restored():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_the_fastest_number_is_found():
    used = Machine(_1=4, _2=2, _4=1.5, _6=3).run(30)
    assert sorted(used[: 4 * STEPS]) == sorted([1, 2, 4, 6] * STEPS)
    assert set(used[4 * STEPS :]) == {4}


def test_one_core_is_not_measured():
    assert set(Machine(_1=1).run(AGAIN + 5)) == {1}


def test_when_steps_slow_down_numbers_are_compared_again():
    machine = Machine(_1=2, _2=1)
    assert machine.run(20)[-1] == 2
    machine.seconds[2] = 50  # other programs need the cores
    assert machine.run(20)[-1] == 1
    assert machine.now < AGAIN + 2 * SLOWED + 4 * 50


def test_numbers_are_compared_again_from_time_to_time():
    machine = Machine(_1=2, _2=50)
    assert machine.run(20)[-1] == 1
    machine.seconds[2] = 1  # the cores are free again
    assert machine.run(AGAIN)[-1] == 2
