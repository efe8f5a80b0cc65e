"""Plots as SVG, drawn without a library: lines over a common pair of axes."""

import math
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 820, 420
LEFT, RIGHT, TOP, BOTTOM = 72, 240, 48, 56
# Told apart by those, too, who do not see every colour.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555", "#e69f00", "#56b4e9", "#000000")
INK, FAINT = "#222222", "#dddddd"


@dataclass(frozen=True)
class Look:
    number: int
    colour: str
    dashes: str


@dataclass(frozen=True)
class Axis:
    label: str
    is_log: bool = False

    def scale(self, values, low, high):
        """A function from values to places between `low` and `high`, and the values that get a mark."""
        least, most = min(values), max(values)
        if self.is_log:
            first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
            last = max(last, first + 1)
            marks = [10.0**power for power in range(first, last + 1)]
            return lambda value: low + (high - low) * (math.log10(value) - first) / (last - first), marks
        step = step_of(max(most, 1e-9))
        top = step * math.ceil(most / step) or step
        marks = [step * count for count in range(round(top / step) + 1)]
        return lambda value: low + (high - low) * value / top, marks


def step_of(most):
    """A round number that fits four to ten times."""
    power = 10.0 ** math.floor(math.log10(most / 4))
    return power * max(factor for factor in (1, 2, 5) if factor * power <= most / 4)


def plot(title, x, y, series, of_a_colour=1):
    """`series`: by name, points of x, y, and the least and the most y was. So many after each other share a colour."""
    series = {name: sorted(points) for name, points in series.items() if points}
    if not series:
        raise ValueError(f"{title}: there is nothing to draw")
    points = [point for line in series.values() for point in line]
    to_x, x_marks = x.scale([point[0] for point in points], LEFT, WIDTH - RIGHT)
    to_y, y_marks = y.scale([value for point in points for value in point[1:]], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" '
        f'fill="{INK}" role="img" aria-label="{escape(title)}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        text(LEFT, 26, title, size=16),
        *frame(x, y, to_x, to_y, x_marks, y_marks),
    ]
    for number, (name, line) in enumerate(series.items()):
        look = Look(number, COLOURS[number // of_a_colour % len(COLOURS)], ' stroke-dasharray="6 4"' if number % of_a_colour else "")
        parts += drawn(name, line, look, to_x, to_y)
    return "\n".join([*parts, "</svg>", ""])


def frame(x, y, to_x, to_y, x_marks, y_marks):
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for mark in y_marks:
        at = to_y(mark)
        yield f'<path d="M{LEFT} {at:.1f}H{right}" stroke="{FAINT}"/>'
        yield text(LEFT - 8, at + 4, short(mark), anchor="end")
    for mark in x_marks:
        at = to_x(mark)
        yield f'<path d="M{at:.1f} {bottom}v5" stroke="{INK}"/>'
        yield text(at, bottom + 20, short(mark), anchor="middle")
    yield f'<path d="M{LEFT} {TOP}V{bottom}H{right}" stroke="{INK}" fill="none"/>'
    yield text((LEFT + right) / 2, HEIGHT - 12, x.label, anchor="middle")
    middle = (TOP + bottom) / 2
    yield text(18, middle, y.label, anchor="middle", more=f' transform="rotate(-90 18 {middle:.1f})"')


def drawn(name, line, look, to_x, to_y):
    colour, dashes = look.colour, look.dashes
    path = "L".join(f"{to_x(x):.1f} {to_y(y):.1f}" for x, y, *_ in line)
    yield f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"{dashes}/>'
    for x, y, low, high in line:
        if high > low:
            yield f'<path d="M{to_x(x):.1f} {to_y(low):.1f}V{to_y(high):.1f}" stroke="{colour}" stroke-opacity="0.4" stroke-width="4"/>'
        yield f'<circle cx="{to_x(x):.1f}" cy="{to_y(y):.1f}" r="3.5" fill="{colour}"/>'
    at = TOP + 10 + 22 * look.number
    yield f'<path d="M{WIDTH - RIGHT + 14} {at}h22" stroke="{colour}" stroke-width="3"{dashes}/>'
    yield text(WIDTH - RIGHT + 42, at + 4, name)


def text(x, y, words, size=None, anchor=None, more=""):
    size = f' font-size="{size}"' if size else ""
    anchor = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{size}{anchor}{more}>{escape(words)}</text>'


def short(value):
    for unit, name in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"
