# SPDX-License-Identifier: GPL-2.0-only
"""Draws the rooms of doc/architecture.rst on their floors, with lines to the rooms right below.

    python3 test/draw_rooms.py > doc/images/rooms.svg

test_rooms.py fails if the stored drawing is another one.
"""

import html
import textwrap

BOX_WIDTH, BOX_HEIGHT = 164, 62
GAP, FLOOR_GAP, MARGIN = 14, 34, 46
LETTERS = 25  # of a description, in a line
LINES = 2


def get_floors(rooms):
    """Return {room: floor}: each room is one above the highest room that it may include."""
    floors = {}
    for room, below in rooms.items():
        floors[room] = 1 + max((floors[other] for other in below), default=-1)
    return floors


def get_covers(rooms):
    """Return the pairs (room, room right below): those that follow from no others."""
    return [
        (room, other)
        for room, below in rooms.items()
        for other in sorted(below)
        if not any(other in rooms[between] for between in below)
    ]


def shorten(text):
    """Return the beginning of a description, in lines."""
    phrase = text.replace("``", "")
    for end in (":", ".", ";"):
        phrase = phrase.split(end)[0]
    lines = textwrap.wrap(phrase, LETTERS)
    if len(lines) > LINES:  # the last line ends with a whole word
        lines = lines[:LINES]
        lines[-1] = textwrap.shorten(lines[-1] + " " + "x" * LETTERS, LETTERS, placeholder=" ...")
    return lines


def place(rooms, floors):
    """Return {room: (left, top)} and the size of the drawing.

    On a floor, rooms stand in the order of the mean places of the rooms that they include.
    """
    rows = [
        [room for room in rooms if floors[room] == floor] for floor in sorted({*floors.values()})
    ]
    widest = max(map(len, rows))
    width = 2 * MARGIN + widest * (BOX_WIDTH + GAP) - GAP
    height = 2 * GAP + len(rows) * (BOX_HEIGHT + FLOOR_GAP) - FLOOR_GAP
    places = {}
    for floor, row in enumerate(rows):

        def centre(room):
            known = [places[other][0] for other in rooms[room] if floors[other] > 0]
            return sum(known) / len(known) if known else 0

        row = sorted(row, key=centre)
        left = (width - len(row) * (BOX_WIDTH + GAP) + GAP) / 2
        top = height - GAP - BOX_HEIGHT - floor * (BOX_HEIGHT + FLOOR_GAP)
        for index, room in enumerate(row):
            places[room] = (round(left + index * (BOX_WIDTH + GAP)), top)
    return places, (width, height)


def draw(rooms, texts):
    """Return the drawing as SVG.

    Args:
        rooms: {room: the rooms whose headers it may include}, lowest first.
        texts: {room: what it knows}.
    """
    floors = get_floors(rooms)
    places, (width, height) = place(rooms, floors)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" text-anchor="middle">',
        "<!-- SPDX-License-Identifier: GPL-2.0-only; drawn by test/draw_rooms.py -->",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<g stroke="#9aa5b1" stroke-width="1.2" fill="none">',
    ]
    for room, other in get_covers(rooms):
        (left, top), (other_left, other_top) = places[room], places[other]
        start, end = left + BOX_WIDTH // 2, other_left + BOX_WIDTH // 2
        bottom = top + BOX_HEIGHT
        middle = (bottom + other_top) / 2
        lines.append(
            f'<path d="M{start} {bottom} C{start} {middle:.0f} {end} {middle:.0f} {end} {other_top}"/>'
        )
    lines.append("</g>")
    for room, (left, top) in places.items():
        centre = left + BOX_WIDTH // 2
        lines.append(
            f'<rect x="{left}" y="{top}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6" '
            'fill="#eef3f8" stroke="#35608a"/>'
        )
        lines.append(
            f'<text x="{centre}" y="{top + 20}" font-size="14" font-weight="bold">{room}</text>'
        )
        for number, line in enumerate(shorten(texts[room])):
            lines.append(
                f'<text x="{centre}" y="{top + 37 + 14 * number}" font-size="11" '
                f'fill="#333">{html.escape(line)}</text>'
            )
    for floor in sorted({*floors.values()}):
        top = next(places[room][1] for room in rooms if floors[room] == floor)
        lines.append(
            f'<text x="{MARGIN // 2}" y="{top + BOX_HEIGHT // 2 + 4}" font-size="13" '
            f'fill="#777">{floor}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def main():
    from test_rooms import ROOMS, read_table

    names = list(ROOMS)
    print(draw(ROOMS, dict(zip(names, (row[1] for row in read_table("rooms"))))), end="")


if __name__ == "__main__":
    main()
