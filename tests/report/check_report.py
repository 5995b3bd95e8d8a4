"""check_report.py SAMPLE_REPORT KIND: makes the report of that kind and holds it to what every report promises.

Python's own parsers judge it: each SVG is XML of its own, the page nests properly, and nothing in it runs or is loaded.
"""

import html.parser
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = set("html head meta title style body a main h1 h2 div p nav ol li section table caption thead tbody tr th td strong figure figcaption details summary".split())
DRAWING = set("svg title desc style line rect text polyline polygon circle".split())
ATTRIBUTES = set("lang charset http-equiv content name class href id aria-label aria-labelledby role tabindex scope".split())
VOID = {"meta"}


class Page(html.parser.HTMLParser):
    """Notes what opens and closes, and complains of anything that is not on the lists above."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.count, self.ids, self.targets, self.text = [], [], {}, [], [], []

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        inside_svg = "svg" in self.open or tag == "svg"
        if tag not in (DRAWING if inside_svg else ELEMENTS):
            self.faults.append(f"<{tag}> does not belong here, line {self.getpos()[0]}")
        for name, value in attributes:
            if name.startswith("on") or name == "style" or (not inside_svg and name not in ATTRIBUTES):
                self.faults.append(f"attribute {name} of <{tag}>")
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.targets.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing, line {self.getpos()[0]}")

    def handle_data(self, data):
        self.text.append(data)

    def unknown_decl(self, data):
        self.faults.append(f"declaration {data[:40]}")


def check_svg(text, fail):
    root = ElementTree.fromstring(text)
    if root.get("role") != "img" or root.find(SVG + "title") is None or root.find(SVG + "desc") is None:
        fail("a picture without its text alternative")
    width, height = (float(number) for number in root.get("viewBox").split()[2:])
    for element in root.iter():
        if element.tag.removeprefix(SVG) not in DRAWING:
            fail(f"{element.tag} in a picture")
        for name, value in element.attrib.items():
            if re.search(r"nan|inf", value):
                fail(f"{name}={value}")
        across = [element.get(name) for name in ("x", "x1", "x2", "cx") if element.get(name)]
        down = [element.get(name) for name in ("y", "y1", "y2", "cy") if element.get(name)]
        for pair in element.get("points", "").split():
            across.append(pair.split(",")[0])
            down.append(pair.split(",")[1])
        if not all(-6 <= float(x) <= width + 6 for x in across) or not all(-6 <= float(y) <= height + 6 for y in down):
            fail(f"{element.tag} {element.attrib} outside the picture of {width} x {height}")


def check_page(raw, pictures_min):
    """The faults of a whole report, and all its text as a reader sees it."""
    faults = []
    text = raw.decode("utf-8")  # raises on what is not UTF-8
    if re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xe2\x80[\xaa-\xae]|\xc2[\x80-\x9f]", raw):
        faults.append("control characters")
    if re.search(r"(https?:)?//(?!www\.w3\.org/2000/svg)[a-z]|@import|url\(|<script|javascript:", text, flags=re.I):
        faults.append("something that loads or runs")
    pictures = re.findall(r"<svg .*?</svg>", text, flags=re.S)
    for picture in pictures:
        check_svg(picture, faults.append)

    page = Page()
    page.feed(text)
    page.close()
    faults += page.faults
    if page.open:
        faults.append(f"never closed: {page.open}")
    if len(page.ids) != len(set(page.ids)) or not {target[1:] for target in page.targets} <= set(page.ids):
        faults.append("ids that clash, or links that lead nowhere")
    found = [page.count.get(name, 0) for name in ("svg", "details")]
    if page.count["h1"] != 1 or found != [len(pictures)] * 2 or len(pictures) < pictures_min:
        faults.append(f"a picture without its numbers: {page.count}")
    return faults, "".join(page.text)


def main():
    program, kind = sys.argv[1:]
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, f"{folder}/new/deep", kind], check=True, stdout=subprocess.DEVNULL)
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        if [path.name for path in files] != ["report.html"]:
            faults.append(f"left behind: {files}")
        raw = files[0].read_bytes()
    found, text = check_page(raw, 8)
    faults += found
    if kind == "hostile" and "<script>alert(1)</script>" not in text:
        faults.append("the hostile text is not shown as it is")
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
