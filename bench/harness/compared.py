"""What rounds say together."""

from statistics import median


def spread(values):
    return {"median": median(values), "min": min(values), "max": max(values)}


def compared(rounds, ours):
    """For each name its figures over all rounds, and how many times as much ours did in the same round.

    `rounds`: for each round the figures by name.
    """
    names = {name: None for figures in rounds for name in figures}
    return {name: row([figures[name] for figures in rounds if name in figures], name, rounds, ours) for name in names}


def row(lines, name, rounds, ours):
    # What fell out in one round is compared in those it was in.
    ratios = [
        figures[ours]["per_second"] / figures[name]["per_second"]
        for figures in rounds
        if name in figures and ours in figures
    ]
    found = {"rounds": len(lines), "per_second": spread([line["per_second"] for line in lines])}
    numbers = {field for line in lines for field, value in line.items() if field.endswith("_per_task") or "percent" in field}
    for field in sorted(numbers):
        found[field] = spread([line[field] for line in lines if field in line])
    if name != ours and ratios:
        found["ours_to_it"] = {**spread(ratios), "each": ratios}
    return found
