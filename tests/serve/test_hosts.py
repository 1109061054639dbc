"""Whose requests are meant for another host."""

from __future__ import annotations

import pytest

from biplanar.serve.guard import host_name, is_foreign

LOCAL = ["localhost", "LOCALHOST:8001", "localhost.", "127.0.0.1", "127.0.0.1:8001", "127.8.8.8", "[::1]", "[::1]:80"]
FOREIGN = ["evil.example", "evil.example:8001", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "[::2]"]
FOREIGN += ["", "[", "[::1", "a b", "x:y", "::1:1", "127.1", "2130706433"]


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1"])
def test_on_a_loopback_address_only_names_of_this_machine(address):
    assert [host for host in LOCAL if is_foreign(host, address, ())] == []
    assert [host for host in FOREIGN if not is_foreign(host, address, ())] == ["[::1"]


def test_hosts_that_were_allowed():
    for host in ("parse.example", "Parse.Example:443", "parse.example."):
        assert not is_foreign(host, "127.0.0.1", ["other.example", "parse.example"])
        assert is_foreign(host, "127.0.0.1", ["other.example"])
    assert not is_foreign("[2001:db8::1]:80", "::1", ["[2001:db8::1]"])


def test_on_other_addresses_any_host_unless_some_were_chosen():
    for address in ("192.168.1.7", "2001:db8::1", "", "/a/socket"):
        assert not is_foreign("evil.example", address, ())
        assert is_foreign("evil.example", address, ["parse.example"])
        assert not is_foreign("localhost", address, ["parse.example"])


def test_names_without_ports():
    names = {"a:1": "a", "A.": "a", "[::1]:1": "::1", "[::1]": "::1", "": ""}
    assert {host: host_name(host) for host in names} == names
