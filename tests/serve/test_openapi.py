"""The description: that it is one, that it is complete, and that the server keeps what it says."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import given, settings
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from biplanar.serve import ServerConfig
from biplanar.serve.app import Service
from biplanar.serve.openapi import describe
from tests.serve.conftest import Served

CONFIG = ServerConfig()
DESCRIPTION = describe(Service(None, CONFIG).operations(), CONFIG)
API = schemathesis.openapi.from_dict(DESCRIPTION)
GOOD, BAD = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
OPERATIONS = [
    (path, method, mode)
    for path, operations in API.raw_schema["paths"].items()
    for method, operation in operations.items()
    for mode in ((GOOD, BAD) if {"parameters", "requestBody"} & set(operation) else (GOOD,))
]
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.mark.parametrize(("path", "method", "mode"), OPERATIONS)
def test_the_server_does_as_described(served: Served, path: str, method: str, mode: schemathesis.GenerationMode):
    """With requests that are as described, and with others."""
    operation = API[path][method]

    @settings(max_examples=60)
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: schemathesis.Case) -> None:
        case.call_and_validate(base_url=served.address, checks=CHECKS, timeout=60)

    check()


def test_no_request_of_these_was_a_fault_of_the_servers(served):
    assert served.metric("biplanar_errors_total") == 0


def test_all_routes_are_described(served):
    described = served.client.get("/openapi.json").json()
    assert described == DESCRIPTION
    for path, operations in described["paths"].items():
        for method in operations:
            assert served.client.request(method, path).status_code != 405
    for path in ("/api/models", "/api/parse", "/api/compare", "/models", "/process", "/healthz", "/metrics"):
        assert path in described["paths"]
    names = [operation["operationId"] for each in described["paths"].values() for operation in each.values()]
    assert len(set(names)) == len(names)
