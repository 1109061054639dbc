"""Bytes that are held, and given back once."""

from __future__ import annotations

from threading import Thread

from biplanar.serve.budget import ByteBudget


def test_there_is_no_more_than_the_limit():
    budget = ByteBudget(10)
    one, other = budget.lease(), budget.lease()
    assert one.take(6)
    assert not other.take(5)
    assert other.take(4)
    assert budget.held == 10
    one.close()
    assert budget.held == 4
    assert other.take(6)


def test_a_closed_lease_holds_nothing():
    budget = ByteBudget(10)
    lease = budget.lease()
    assert lease.take(6)
    lease.close()
    lease.close()
    assert not lease.take(1)
    assert budget.held == 0


def test_many_threads_lose_nothing():
    budget = ByteBudget(1 << 30)
    leases = [budget.lease() for _ in range(8)]
    threads = [Thread(target=lambda lease=lease: [lease.take(1) for _ in range(2000)]) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.held == 16_000
    for lease in leases:
        lease.close()
    assert budget.held == 0
