"""An agent at a support desk: it asks a model, looks orders up, and gives money back once a person has agreed.

What a step gives is recorded together with what it cost. After a crash, an edit of this file or the wait for the person the handler
starts again from its first line, and each step that was done answers from the record: the model is neither asked nor paid again.
"""

import re

ORDERS = {"17": {"article": "a lamp", "cents": 4200}}


def refund(task):
    """Answers a letter such as {"letter": "The lamp of order 17 is broken.", "budget_id": "…"}."""
    talk = [task.input["letter"]]
    while True:
        cost = {}  # the model fills it in; the commit that records the step charges it
        said = task.step("llm", lambda: model(task, talk, cost), budget_id=task.input["budget_id"], deltas=cost)
        if "look_up" not in said:
            break
        talk.append(task.step("order", lambda: ORDERS[said["look_up"]]))

    review = task.key("review")
    if review not in task.journal:
        return ask_a_person(review)
    if [signal["name"] for signal in task.journal[review].get("signals", [])] != ["approved"]:
        return {"op": "complete", "result": "no money back"}
    return {"op": "complete", "result": task.step("pay", lambda: pay(talk[1]))}


def ask_a_person(review):
    """Gives the task back until somebody says yes or no: nothing runs meanwhile, and nothing is held."""
    return {"op": "suspend", "step": review, "waitpoints": [{"fresh": {"waitpoint_key": review}}],
            "resume_condition": {"single": {"waitpoint_key": review, "matcher": {"by_names": ["approved", "rejected"]}}},
            "reason_code": "waiting_for_approval"}


def pay(order):
    """Instead of a bank."""
    return f"{order['cents']} cents for {order['article']} are on their way"


def model(task, talk, cost):
    """Instead of a model: it wants to see the order, and then it has made up its mind. It streams what it says."""
    print("the model is asked")
    if len(talk) == 1:
        said = {"text": "Let me see that order.", "look_up": re.search(r"\d+", talk[0])[0]}
    else:
        said = {"text": f"I would give {talk[1]['cents']} cents back."}
    for word in said["text"].split():
        task.emit(word)
    cost["tokens"] = 100 * len(talk)
    return said


HANDLERS = {"refund": refund}
