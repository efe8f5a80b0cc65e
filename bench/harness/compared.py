"""What rounds say together."""

from statistics import median

# What a line is about, beside its figures.
NO_FIGURES = ("tasks", "exact")


def spread(values):
    return {"median": median(values), "min": min(values), "max": max(values)}


def compared(rounds, ours):
    """For each name its figures over all rounds, and how many times as much ours did in the same round.

    `rounds`: for each round the figures by name.
    """
    names = {name: None for figures in rounds for name in figures}
    return {name: row([figures[name] for figures in rounds if name in figures], name, rounds, ours) for name in names}


def row(lines, name, rounds, ours):
    fields = {field: None for line in lines for field, value in line.items() if is_figure(field, value)}
    found = {"rounds": len(lines), **{field: spread([line[field] for line in lines if field in line]) for field in fields}}
    # What fell out in one round is compared in those it was in.
    pairs = [(figures[ours], figures[name]) for figures in rounds if name in figures and ours in figures]
    ratios = [mine["per_second"] / its["per_second"] for mine, its in pairs if "per_second" in mine and "per_second" in its]
    if name != ours and ratios:
        found["ours_to_it"] = {**spread(ratios), "each": ratios}
    return found


def is_figure(field, value):
    return field not in NO_FIGURES and isinstance(value, (int, float)) and not isinstance(value, bool)
