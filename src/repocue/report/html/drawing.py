"""Charts: a Vega-Lite specification becomes static SVG that follows the page's colours and fonts.

Colours are the style sheet's variables, so one drawing serves the light and the dark page. Text is measured with a
font that the library carries itself, so that the same report gives the same bytes whatever fonts a machine has; the
style sheet then sets the page's own font. The plot area and its margins are given, never measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree as ET

VEGA_LITE: Final = "6.4"
MEASURED_WITH: Final = "Roboto"

_CONFIG: Final[Mapping[str, Any]] = {
    "background": None,
    "font": MEASURED_WITH,
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "ticks": False,
        "gridColor": "var(--grid)",
        "labelColor": "var(--muted)",
        "labelFontSize": 12,
        "labelPadding": 8,
        "labelFlush": False,
        "labelLimit": 1000,
        "titleColor": "var(--muted)",
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "text": {"fontSize": 12, "color": "var(--ink)"},
    "symbol": {"opacity": 1},
}
_DROPPED: Final = (
    "aria-label",
    "aria-hidden",
    "aria-roledescription",
    "role",
    "font-family",
    "pointer-events",
    "class",
)


ZERO_ALONE: Final = "datum.value == 0 ? '0' : datum.label"
"""The label expression that writes zero without the prefix of the other labels."""


def quantity(title: str, *, divisor: float) -> dict[str, Any]:
    """The encoding of a quantity from zero on, along an axis that shows it in units of `divisor`."""
    return {
        "type": "quantitative",
        "scale": {"zero": True, "nice": True},
        "axis": {
            "title": title,
            "tickCount": 4,
            "format": "~s" if divisor == 1 else "~r",
            "labelOverlap": True,
            "labelExpr": ZERO_ALONE,
        },
    }


class Area(NamedTuple):
    """A chart's size in CSS pixels: the plot and its margins."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int


def draw(
    layers: Sequence[Mapping[str, Any]], *, area: Area, name: str, title: str, description: str, **more: Any
) -> str:
    """The SVG of a layered chart, an image with a title and a description; its ids begin with `name`."""
    import vl_convert

    specification = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": area.width,
        "height": area.height,
        "autosize": {"type": "none"},
        "padding": {"left": area.left, "right": area.right, "top": area.top, "bottom": area.bottom},
        "config": _CONFIG,
        "layer": list(layers),
        **more,
    }
    svg = vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE)
    return _inline(svg, name, title, description)


def _inline(svg: str, name: str, title: str, description: str) -> str:
    """An SVG document as an element of an HTML page: no namespaces, unique ids, one image to a screen reader."""
    root = ET.fromstring(svg)  # noqa: S314 - drawn a moment ago by our own library, not foreign XML
    _simplify(root, name)
    root.attrib = {
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-desc",
        "viewBox": root.attrib["viewBox"],
        "width": root.attrib["width"],
        "height": root.attrib["height"],
    }
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(tag, {"id": f"{name}-{tag}"})
        element.text = text
        root.insert(position, element)
    return ET.tostring(root, encoding="unicode")


def _simplify(element: ET.Element, name: str) -> None:
    element.tag = element.tag.rpartition("}")[2]
    attributes = element.attrib
    for dropped in _DROPPED:
        attributes.pop(dropped, None)
    for key, value in list(attributes.items()):
        if key == "id":
            attributes[key] = f"{name}-{value}"
        elif value.startswith("url(#"):
            attributes[key] = f"url(#{name}-{value[5:]}"
    for child in list(element):
        if child.tag.endswith("path") and child.get("class") in ("background", "foreground"):
            element.remove(child)
        else:
            _simplify(child, name)
