"""show: the value, the figures and the pictures that a call shows.

As in a notebook, `plt.show()` shows all open figures and closes them, and the
end of a call does the same with what is open then.  Each picture is one PNG file
on a descriptor of the host's.  matplotlib and PIL are looked for when they are
needed: there may be neither.  Python 3.9 and later.
"""

# SPDX-License-Identifier: Apache-2.0

import builtins
import importlib
import io
import math
import os
import sys
import time
import weakref

from _breakroom import values

VALUE, HINT, IMAGE = 102, 103, 104
MAGIC = b"\x89PNG\r\n\x1a\n"

# What a call shows at most, and how large one picture may be.  A client hands
# them to a model, which sees no more than this of each, and a message that is
# not too long for clients has room for one.
MOST, LONGEST_SIDE, LARGEST = 20, 2000, 1 << 19
# Inches around what is drawn.
MARGIN = 0.1
# What is drawn further out than this many sides is left out.
FAR = 3
# Modes that are made smaller by taking the mean of pixels.
SMOOTH = ("L", "LA", "RGB", "RGBA")
PNG_MODES = (*SMOOTH, "1", "P", "I", "I;16")

count = left_out = 0
# pyplot's table of open figures, once there is one.
figures = {}
# Figures that the program showed by themselves.
shown = weakref.WeakSet()


class Absent:
    """No value is one of these."""

    Figure = Image = ()


def write(descriptor, data):
    """Write all to a descriptor, unless the program has closed it."""
    data = memoryview(data)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        # A program that closes what it did not open is shown less.
        return


def __getattr__(name):
    """Return a library that is met when it is first needed."""
    if name == "plt":
        return sys.modules.get("matplotlib.pyplot", Absent)
    if name == "PIL":
        return importlib.import_module("PIL.Image") and sys.modules["PIL"]
    raise AttributeError(name)


def packed(png):
    """Return what is written of a PNG file: a room may need to tell its length."""
    return png


def send(png):
    """Show a PNG file."""
    global count
    count += 1
    write(IMAGE, packed(png))


def has_room():
    """Tell whether one more picture may be shown; count it if not."""
    global left_out
    if count < MOST:
        return True
    left_out += 1
    return False


def finish_call():
    """Say what was left out; count anew for the next call."""
    global count, left_out
    if left_out:
        text = (
            f"{left_out} of {left_out + count} figures were left out: a call shows "
            f"{MOST} at most; save the rest with savefig(), or show fewer a call\n"
        )
        write(HINT, text.encode())
    count = left_out = 0


def send_picture(picture):
    """Show a PIL image, made smaller if need be."""
    if has_room():
        send(encode(picture))


def encode(picture):
    """Return a PIL image as a PNG file that is not too large."""
    if picture.mode not in PNG_MODES:
        picture = picture.convert("RGB")
    picture = scaled(picture, LONGEST_SIDE / max(picture.size))
    png = save(picture)
    while len(png) > LARGEST:
        picture = scaled(picture, 0.9 * math.sqrt(LARGEST / len(png)))
        png = save(picture)
    return png


def scaled(picture, factor):
    """Return a picture, by the factor smaller if that is below 1."""
    if factor >= 1:
        return picture
    size = [max(1, int(side * factor)) for side in picture.size]
    image = importlib.import_module("PIL.Image")
    if picture.mode in SMOOTH:
        return picture.resize(size, image.LANCZOS, reducing_gap=2.0)
    return picture.resize(size, image.NEAREST)


def save(picture):
    """Return a picture as a PNG file."""
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


def opened(png):
    """Return a PNG file as a PIL image."""
    return importlib.import_module("PIL.Image").open(io.BytesIO(png))


def send_png(png):
    """Show a PNG file of any size."""
    if not has_room():
        return
    with opened(png) as picture:
        large = len(png) > LARGEST or max(picture.size) > LONGEST_SIDE
        send(encode(picture) if large else bytes(png))


def is_blank(figure):
    """Tell whether a figure has nothing but its background."""
    return len(figure.get_children()) < 2


def send_figure(figure):
    """Show a figure as it is now."""
    if is_blank(figure) or not has_room():
        return
    png = draw(figure)
    if len(png) > LARGEST:
        with opened(png) as picture:
            png = encode(picture)
    send(png)
    figure.stale = False


def draw(figure):
    """Return a figure as a PNG file, with what lies beyond its edges."""
    before = figure.dpi
    dpi = min(before, LONGEST_SIDE / max(figure.get_size_inches()))
    stream = io.BytesIO()
    figure.dpi = dpi
    try:
        figure.draw_without_rendering()
        box = bounds(figure)
        if box is not None:
            dpi = min(dpi, LONGEST_SIDE / max(box.width, box.height))
        figure.canvas.print_figure(stream, format="png", dpi=dpi, bbox_inches=box)
    finally:
        figure.dpi = before
    return stream.getvalue()


def bounds(figure):
    """Return the part of a figure, in inches, in which something is drawn."""
    box = figure.get_tightbbox().padded(MARGIN)
    most = FAR * max(figure.get_size_inches())
    # Also false where a side is not a number.
    return box if 0 < box.width < most and 0 < box.height < most else None


def show_open():
    """Show and close all open figures; one that cannot be drawn is closed."""
    for manager in sorted(figures.values(), key=lambda each: each.num):
        figure = manager.canvas.figure
        try:
            if figure not in shown or figure.stale:
                send_figure(figure)
        finally:
            sys.modules["matplotlib._pylab_helpers"].Gcf.destroy(manager)


def show(*args, **kwargs):
    """Display all open figures, and close them."""
    show_open()


def pause(interval):
    """Run for *interval* seconds; figures are shown at the end."""
    time.sleep(interval)


def show_one(manager):
    """Show the figure of a manager, which stays open."""
    figure = manager.canvas.figure
    send_figure(figure)
    shown.add(figure)


def picture_of(value):
    """Show a value that is a picture; return whether it was one."""
    if isinstance(value, sys.modules.get("matplotlib.figure", Absent).Figure):
        if not is_open(value):
            send_figure(value)
        return True
    if isinstance(value, sys.modules.get("PIL.Image", Absent).Image):
        send_picture(value)
        return True
    return send_own(value)


def is_open(figure):
    """Tell whether the end of the call will show a figure."""
    return any(each.canvas.figure is figure for each in figures.values())


def send_own(value):
    """Show the picture that a value makes of itself for notebooks, if any."""
    make = getattr(type(value), "_repr_png_", None)
    if not callable(make) or isinstance(value, type):
        return False
    try:
        png = make(value)
    except Exception:
        # It has a text all the same.
        return False
    if not isinstance(png, bytes) or not png.startswith(MAGIC):
        return False
    send_png(png)
    return True


def show_value(value, keep):
    """Show the value of a program's last expression; `keep` it in `_`."""
    if value is None:
        return
    if keep:
        builtins._ = value
    if sys.displayhook is not sys.__displayhook__:
        sys.displayhook(value)
        return
    text = values.text_of(value)
    write(VALUE, text.encode("utf-8", "backslashreplace"))
    if type(value) not in values.SIMPLE:
        picture_of(value)


def adopt(pyplot):
    """Put these in place of what needs a screen."""
    global figures
    for function in (show, pause):
        function.__module__ = "matplotlib.pyplot"
        setattr(pyplot, function.__name__, function)
    sys.modules["matplotlib.backend_bases"].FigureManagerBase.show = show_one
    figures = sys.modules["matplotlib._pylab_helpers"].Gcf.figs
