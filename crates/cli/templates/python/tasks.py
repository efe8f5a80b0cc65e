"""Your tasks: a function for each kind. What a step gives is recorded, and not done again: kill the worker where you like."""


def hello(task):
    """Greets somebody."""
    greeting = f"hello {task.input['name']}"
    task.step("say", lambda: task.emit(greeting))
    return {"op": "complete", "result": greeting}


def letter(task):
    """Writes to somebody, once a person has agreed. It starts again from its first line when somebody has decided."""
    draft = task.step("draft", lambda: write(task.input["name"]))
    review = task.key("review")
    if review not in task.journal:
        return {"op": "suspend", "step": review, "waitpoints": [{"fresh": {"waitpoint_key": review}}],
                "resume_condition": {"single": {"waitpoint_key": review, "matcher": "any"}},
                "reason_code": "waiting_for_approval"}
    signals = task.journal[review].get("signals")  # none: an operator let it go on, which is no yes
    if not signals or signals[0]["name"] != "approved":
        return {"op": "fail", "reason": "rejected", "category": "permanent"}
    return {"op": "complete", "result": task.step("send", lambda: f"sent: {draft}")}


def write(name):
    """Instead of a model."""
    return f"Dear {name}, it works."


HANDLERS = {"hello": hello, "letter": letter}
