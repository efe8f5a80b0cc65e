"""The comparison as people read it."""

COLUMNS = ("", "per second", "min – max", "store CPU µs", "our CPU µs", "calls", "stored B", "ours to it", "min – max")
# What stands in a column.
SHOWN = (
    "rounds", "per_second", "seconds", "store_cpu_us_per_task", "cpu_us_per_task", "all_cpu_us_per_task", "store_calls_per_task",
    "stored_bytes_per_task", "ours_to_it",
)


def table(rows):
    """Lines of text, for what `compared` found."""
    rates = {name: row for name, row in rows.items() if "per_second" in row}
    lines = aligned([COLUMNS] + [line(name, row) for name, row in rates.items()]) if rates else []
    for name, row in rows.items():
        lines += [f"{name}: {field.replace('_', ' ')} {number(row[field])}" for field in row if field not in SHOWN]
    return lines


def targets(found):
    """Lines of text, for what was judged."""
    return [f"{'met' if one['met'] else 'MISSED'}: {one['median']:,.3g} {one['target']}, {one['bound']} wanted" for one in found]


def aligned(cells):
    widths = [max(len(cell) for cell in column) for column in zip(*cells)]
    return [
        "  ".join(cell.ljust(width) if at == 0 else cell.rjust(width) for at, (cell, width) in enumerate(zip(row, widths)))
        for row in cells
    ]


def number(spread):
    return f"{spread['median']:,.3f} ({spread['min']:,.3f} – {spread['max']:,.3f})"


def line(name, row):
    def middle(field, digits):
        return f"{row[field]['median']:,.{digits}f}" if field in row else ""

    rate, ratio = row["per_second"], row.get("ours_to_it")
    return (
        name,
        f"{rate['median']:,.0f}",
        f"{rate['min']:,.0f} – {rate['max']:,.0f}",
        middle("store_cpu_us_per_task", 1),
        middle("cpu_us_per_task", 1),
        middle("store_calls_per_task", 3),
        middle("stored_bytes_per_task", 0),
        f"{ratio['median']:.2f} ×" if ratio else "",
        f"{ratio['min']:.2f} – {ratio['max']:.2f}" if ratio else "",
    )
