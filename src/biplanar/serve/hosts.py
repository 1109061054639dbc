"""Which hosts a request may name.

A page of another site can give its own name the address of this machine (DNS rebinding) and then talk to a server here
as if it were its own. The requests that its browser sends still name that site in their Host header.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address

LOCAL_NAME = "localhost"


def is_foreign(host: str, address: str, allowed: Collection[str]) -> bool:
    """Whether a Host header names another host than those that are served at an address.

    It may name anything if the address is reached from other machines and no hosts were chosen.
    """
    if not (allowed or is_loopback(address)):
        return False
    name = host_name(host)
    return not (name == LOCAL_NAME or is_loopback(name) or name in map(host_name, allowed))


def host_name(host: str) -> str:
    """The name or address in a Host header, without a port."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.lower().rstrip(".")


def is_loopback(address: str) -> bool:
    """Whether this is an address that a machine reaches itself by."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
