"""Write a picture as SVG."""

from xml.sax.saxutils import escape

from leaps.karel.draw import palette
from leaps.karel.draw.lettering import BASELINE
from leaps.karel.draw.shapes import Area, Disc, Label, Line, Picture, Point, Points, Shape, corners


def write_svg(picture: Picture) -> str:
    """Write a picture as vectors, a group per layer."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width}" height="{picture.height}"'
        f' viewBox="0 0 {picture.width} {picture.height}" role="img"'
        ' font-family="Aileron, Helvetica, Arial, sans-serif" text-anchor="middle"'
        ' fill-rule="evenodd" stroke-linecap="round" stroke-linejoin="round">',
        f"<title>{escape(picture.title)}</title>",
        f'<rect width="100%" height="100%" fill="{palette.PAGE}"/>',
    ]
    for name, shapes in picture.layers.items():
        lines += [f'<g class="{name}">', *map(_element, shapes), "</g>"]
    return "\n".join([*lines, "</svg>", ""])


def _element(shape: Shape) -> str:
    match shape:
        case Area(loops, colour, radius):
            data = "".join(f"M{_loop(loop, radius)}Z" for loop in loops)
            return f'<path d="{data}" fill="{colour}"/>'
        case Line(points, width, colour):
            data = " ".join(map(_point, points))
            return f'<polyline points="{data}" fill="none" stroke="{colour}" stroke-width="{width:.4g}"/>'
        case Disc((x, y), radius, colour):
            return f'<circle cx="{x:.6g}" cy="{y:.6g}" r="{radius:.4g}" fill="{colour}"/>'
        case Label((x, y), text, size, colour):
            position = f'x="{x:.6g}" y="{y + BASELINE * size:.6g}"'
            return f'<text {position} font-size="{size:.4g}" fill="{colour}">{escape(text)}</text>'


def _loop(loop: Points, radius: float) -> str:
    if not radius:
        return "L".join(map(_point, loop))
    return "L".join(f"{_point(a)}Q{_point(b)} {_point(c)}" for a, b, c in corners(loop, radius))


def _point(point: Point) -> str:
    return f"{point[0]:.6g},{point[1]:.6g}"
