"""Ops on images and boxes, and gradients of resizing and cropping, against
references in NumPy."""
import numpy as np
import pytest

from op_values import expect_close, numeric_gradient, run_op

MODES = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
SIZES = [((4, 5), (7, 9)), ((7, 6), (3, 4)), ((3, 4), (3, 4)), ((5, 1), (2, 3))]


def source(i, n_in, n_out, align_corners=False, half_pixel_centers=False):
    """Where output i of n_out is, in units of the n_in inputs."""
    if align_corners and n_out > 1:
        return i * (n_in - 1) / (n_out - 1)
    scale = n_in / n_out
    return (i + .5) * scale - .5 if half_pixel_centers else i * scale


def nearest(n_in, n_out, align_corners=False, half_pixel_centers=False):
    m = np.zeros((n_out, n_in))
    for i in range(n_out):
        x = source(i, n_in, n_out, align_corners, half_pixel_centers)
        if half_pixel_centers or align_corners:
            x += .5
        m[i, max(0, min(n_in - 1, int(np.floor(x))))] = 1
    return m


def bilinear(n_in, n_out, **mode):
    m = np.zeros((n_out, n_in))
    for i in range(n_out):
        x = source(i, n_in, n_out, **mode)
        low = int(np.floor(x))
        for at, weight in ((low, 1 - (x - low)), (low + 1, x - low)):
            m[i, max(0, min(n_in - 1, at))] += weight
    return m


def keys(distance, a):
    d = abs(distance)
    if d <= 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a if d < 2 else 0


def bicubic(n_in, n_out, **mode):
    """Of Keys; with half_pixel_centers what lies outside has no weight."""
    half = mode.get("half_pixel_centers", False)
    m = np.zeros((n_out, n_in))
    for i in range(n_out):
        x = source(i, n_in, n_out, **mode)
        low = int(np.floor(x))
        for at in range(low - 1, low + 3):
            weight = keys(x - at, -.5 if half else -.75)
            if not half:
                m[i, max(0, min(n_in - 1, at))] += weight
            elif 0 <= at < n_in:
                m[i, at] += weight
        m[i] /= m[i].sum() if half else 1
    return m


def resize_gradient(matrix, grads, small, large, mode):
    """What the transposed map makes of the gradients of the output."""
    rows, columns = (matrix(a, b, **mode) for a, b in zip(small, large))
    return np.einsum("yi,xj,byxc->bijc", rows, columns, grads.astype(np.float64))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size, resized", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32,
                                   np.int8, np.uint8])
def test_gradient_of_resizing_to_the_nearest(size, resized, mode, dtype):
    grads = np.random.RandomState(0).randint(0, 4, (2, *resized, 3)).astype(dtype)
    got = run_op("ResizeNearestNeighborGrad", grads, np.int32(size), **mode)
    assert got.dtype == dtype
    expect_close(got, resize_gradient(nearest, grads, size, resized, mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size, resized", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_gradient_of_bilinear_resizing(size, resized, mode, dtype):
    grads = np.random.RandomState(0).randn(2, *resized, 3).astype(np.float32)
    got = run_op("ResizeBilinearGrad", grads, np.zeros((2, *size, 3), dtype), **mode)
    assert got.dtype == dtype
    tolerance = 1e-2 if dtype == np.float16 else 1e-5
    expect_close(got, resize_gradient(bilinear, grads, size, resized, mode),
                 tolerance, tolerance)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size, resized", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient_of_bicubic_resizing(size, resized, mode, dtype):
    grads = np.random.RandomState(0).randn(2, *resized, 3).astype(np.float32)
    got = run_op("ResizeBicubicGrad", grads, np.zeros((2, *size, 3), dtype), **mode)
    assert got.dtype == dtype
    # The op takes its weights from a table of 1024 steps.
    expect_close(got, resize_gradient(bicubic, grads, size, resized, mode), 1e-2,
                 1e-2)


@pytest.mark.parametrize("mode", MODES)
def test_bicubic_resizing_and_its_gradient_are_adjoint(mode):
    size, resized = (4, 5), (7, 3)
    units = np.eye(20, dtype=np.float32).reshape(20, *size, 1)
    columns = run_op("ResizeBicubic", units, np.int32(resized), **mode)
    grads = np.random.RandomState(0).randn(1, *resized, 1).astype(np.float32)
    got = run_op("ResizeBicubicGrad", grads, np.zeros((1, *size, 1), np.float32),
                 **mode)
    expect_close(got.reshape(20), np.sum(columns * grads, axis=(1, 2, 3)), 1e-5, 1e-5)


BOXES = np.array([[.11, .23, .83, .71], [.05, .33, .9, .94], [.97, .77, .21, .11],
                  [-.31, .22, .53, 1.34]], np.float32)
BOX_IND = np.int32([0, 1, 1, 0])


def crop(image, boxes, size):
    """Bilinear crops; zero where a point lies outside of the image."""
    _, h, w, depth = image.shape
    out = np.zeros((len(boxes), *size, depth))
    for b, (y1, x1, y2, x2) in enumerate(boxes):
        for i, j in np.ndindex(*size):
            y = y1 * (h - 1) + i * (y2 - y1) * (h - 1) / (size[0] - 1)
            x = x1 * (w - 1) + j * (x2 - x1) * (w - 1) / (size[1] - 1)
            if not (0 <= y <= h - 1 and 0 <= x <= w - 1):
                continue
            top, left = int(np.floor(y)), int(np.floor(x))
            for r, wy in ((top, 1 - y + top), (top + 1, y - top)):
                for c, wx in ((left, 1 - x + left), (left + 1, x - left)):
                    if wy * wx != 0:
                        out[b, i, j] += wy * wx * image[BOX_IND[b], r, c]
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_gradient_of_cropping_by_the_image(dtype):
    shape, size = (2, 5, 6, 2), (3, 4)
    grads = np.random.RandomState(0).randn(4, *size, 2).astype(np.float32)
    got = run_op("CropAndResizeGradImage", grads, BOXES, BOX_IND, np.int32(shape),
                 T=dtype)
    assert got.dtype == dtype
    wanted = numeric_gradient(lambda x: crop(x, BOXES.astype(np.float64), size),
                              np.zeros(shape), grads, step=1.)
    tolerance = 1e-2 if dtype == np.float16 else 1e-4
    expect_close(got, wanted, tolerance, tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32,
                                   np.uint8, np.int8, np.int16, np.int64, np.uint16])
def test_gradient_of_cropping_by_the_boxes(dtype):
    size = (3, 4)
    random = np.random.RandomState(0)
    image = random.randint(0, 50, (2, 5, 6, 2)).astype(dtype)
    grads = random.randn(4, *size, 2).astype(np.float32)
    got = run_op("CropAndResizeGradBoxes", grads, image, BOXES, BOX_IND)
    wanted = numeric_gradient(lambda b: crop(image.astype(np.float64), b, size),
                              BOXES, grads)
    expect_close(got, wanted, 1e-3, 1e-2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient_of_cropping_to_the_nearest_by_the_image(dtype):
    # Both corners of the box are points of the image: those get the gradients.
    grads = np.arange(1, 5, dtype=np.float32).reshape(1, 2, 2, 1)
    got = run_op("CropAndResizeGradImage", grads, np.float32([[0, 0, .5, 1]]),
                 np.int32([0]), np.int32([1, 3, 3, 1]), T=dtype, method="nearest")
    expect_close(got[0, :, :, 0], [[1, 0, 2], [3, 0, 4], [0, 0, 0]])


def iou(a, b):
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    both = np.prod(np.maximum(high - low, 0))
    area = lambda x: (x[2] - x[0]) * (x[3] - x[1])
    return both / (area(a) + area(b) - both)


def suppress(boxes, scores, most, iou_threshold, score_threshold):
    """Indices that greedy suppression keeps, best first."""
    kept = []
    for i in np.argsort(-scores, kind="stable"):
        if len(kept) < most and scores[i] > score_threshold and all(
                iou(boxes[i], boxes[k]) <= iou_threshold for k in kept):
            kept.append(i)
    return kept


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("pad_per_class", [True, False])
@pytest.mark.parametrize("clip_boxes", [True, False])
@pytest.mark.parametrize("most, total", [(3, 10), (2, 4), (20, 50)])
def test_combined_non_max_suppression(shared, pad_per_class, clip_boxes, most, total):
    batch, n, classes = 2, 12, 3
    random = np.random.RandomState(0)
    corner = random.uniform(-.2, .7, (batch, n, 1 if shared else classes, 2))
    boxes = np.concatenate([corner, corner + random.uniform(.2, .5, corner.shape)],
                           axis=-1).astype(np.float32)
    scores = random.uniform(size=(batch, n, classes)).astype(np.float32)
    got_boxes, got_scores, got_classes, valid = run_op(
        "CombinedNonMaxSuppression", boxes, scores, np.int32(most), np.int32(total),
        np.float32(.4), np.float32(.3), pad_per_class=pad_per_class,
        clip_boxes=clip_boxes)
    length = min(total, most * classes) if pad_per_class else total
    assert got_scores.shape == (batch, length)
    for b in range(batch):
        found = []
        for c in range(classes):
            of_class = boxes[b, :, 0 if shared else c]
            found += [(scores[b, i, c], c, of_class[i]) for i in suppress(
                of_class, scores[b, :, c], most, .4, .3)]
        found = sorted(found, key=lambda f: -f[0])[:length]
        assert valid[b] == len(found)
        rest = length - len(found)
        wanted = np.array([f[2] for f in found] + [[0] * 4] * rest)
        if clip_boxes:
            wanted = np.clip(wanted, 0, 1)
        expect_close(got_boxes[b], wanted)
        expect_close(got_scores[b], [f[0] for f in found] + [0] * rest)
        expect_close(got_classes[b], [f[1] for f in found] + [0] * rest)


def test_suppression_by_given_overlaps():
    random = np.random.RandomState(1)
    overlaps = random.uniform(size=(9, 9)).astype(np.float32)
    scores = random.uniform(size=9).astype(np.float32)
    kept = []
    for i in np.argsort(-scores):
        if len(kept) < 5 and scores[i] > .2 and all(overlaps[i, k] <= .6 for k in kept):
            kept.append(i)
    assert 1 < len(kept) < np.sum(scores > .2)
    got = run_op("NonMaxSuppressionWithOverlaps", overlaps, scores, np.int32(5),
                 np.float32(.6), np.float32(.2))
    assert got.tolist() == kept


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_boxes_are_drawn_in_the_colors_given(dtype):
    images = np.zeros((1, 6, 8, 3), dtype)
    boxes = np.float32([[[.2, .125, .8, .75], [0, 0, 1, 1]]])
    colors = np.float32([[1, 2, 3], [4, 5, 6]])
    got = run_op("DrawBoundingBoxesV2", images, boxes, colors)
    wanted = images.copy()
    for color, (top, left, bottom, right) in zip(colors, [(1, 0, 4, 5), (0, 0, 5, 7)]):
        for y, x in np.ndindex(6, 8):
            inside = top <= y <= bottom and left <= x <= right
            if inside and (y in (top, bottom) or x in (left, right)):
                wanted[0, y, x] = color
    expect_close(got, wanted)
