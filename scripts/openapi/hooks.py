"""Makes requests meet something: waits are short, ids are mostly those of things that are there."""

import json
import os
import random
import re
import urllib.parse
import urllib.request

import schemathesis

WAIT_MS = 50
URL = os.environ["FF_URL"] + "/v1"


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(URL + path, data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def executions():
    ids = [call("POST", "/executions", {"execution_kind": "probe", "input": n})["execution_id"] for n in range(4)]
    call("POST", f"/executions/{urllib.parse.quote(ids[0])}/cancel", {"reason": "an ended one is needed, too"})
    return ids


# The first execution has ended, so that its stream does too.
EXECUTIONS = executions()
KNOWN = {
    "execution_id": EXECUTIONS,
    "flow_id": [call("POST", "/flows", {"flow_kind": "probe"})["flow_id"] for _ in range(2)],
    "budget_id": [call("POST", "/budgets", {"dimensions": {"tokens": {"hard": 9}}})["budget_id"] for _ in range(2)],
    "quota_policy_id": [call("POST", "/quotas", {"max_concurrent": 2})["quota_policy_id"] for _ in range(2)],
    "attempt_index": [0, 1],
}
# Whose answers never end unless JSON is asked for.
FOLLOWED = {"events", "tail_stream"}


IS_ID = re.compile(r"^((\{fp:\d+\}|fp:\d+):)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def cut(fields):
    if isinstance(fields, dict) and isinstance(fields.get("wait_ms"), int) and fields["wait_ms"] > WAIT_MS:
        fields["wait_ms"] = WAIT_MS


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    # What is no id stays: it is there to be refused.
    for name, value in (path_parameters or {}).items():
        fits = isinstance(value, int) or IS_ID.match(str(value))
        if name in KNOWN and fits and random.random() < 0.8:
            path_parameters[name] = random.choice(KNOWN[name])
    return path_parameters


@schemathesis.hook
def map_query(context, query):
    # Nobody guesses a cursor, so most requests do without.
    if query and "cursor" in query and random.random() < 0.8:
        del query["cursor"]
    return query


@schemathesis.hook
def before_call(context, case, kwargs):
    cut(case.query)
    cut(case.body)
    operation = case.operation.definition.raw["operationId"]
    if operation in FOLLOWED:
        case.headers["Accept"] = "application/json"
    if operation == "follow_stream" and IS_ID.match(str(case.path_parameters["execution_id"])):
        case.path_parameters["execution_id"] = EXECUTIONS[0]
