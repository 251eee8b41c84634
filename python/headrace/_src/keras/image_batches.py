"""tf.keras.preprocessing.image: batches of pictures, changed at random, from
arrays, folders and tables."""
import os
import threading
import warnings

import numpy as np

from headrace._src.keras import image_arrays as _arrays
from headrace._src.keras.utils import Sequence
from headrace._src.layers import backend
from headrace._src.layers.core import data_format_of

_ENDINGS = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")


class Iterator(Sequence):
    """Batches of `n` examples, by number or one after the other without end, in
    order or shuffled. A derived class has
    `_get_batches_of_transformed_samples(numbers)`, an int array [batch], which
    makes a batch; here it raises NotImplementedError. `seed`: np.random starts
    there, plus the number of batches made so far, at each batch. ValueError for
    the number of a batch that is not there."""

    white_list_formats = _ENDINGS

    def __init__(self, n, batch_size, shuffle, seed):
        self.n = n
        self.batch_size = batch_size
        self.seed = seed
        self.shuffle = shuffle
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array = None
        self.index_generator = self._flow_index()

    def _set_index_array(self):
        self.index_array = (np.random.permutation(self.n) if self.shuffle
                            else np.arange(self.n))

    def _start_batch(self):
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)

    def __getitem__(self, idx):
        if idx >= len(self):
            raise ValueError("Asked to retrieve element %d, but the Sequence "
                             "has length %d" % (idx, len(self)))
        self._start_batch()
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        return self._get_batches_of_transformed_samples(
            self.index_array[self.batch_size * idx:self.batch_size * (idx + 1)])

    def __len__(self):
        return -(-self.n // self.batch_size)

    def on_epoch_end(self):
        """Shuffles again."""
        self._set_index_array()

    def reset(self):
        """The next batch is the first one."""
        self.batch_index = 0

    def _flow_index(self):
        self.reset()
        while True:
            self._start_batch()
            if self.batch_index == 0:
                self._set_index_array()
            size = self.batch_size
            start = self.batch_index * size % self.n if self.n else 0
            self.batch_index = (self.batch_index + 1
                                if self.n > start + size else 0)
            self.total_batches_seen += 1
            yield self.index_array[start:start + size]

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def next(self):
        """The next batch."""
        with self.lock:
            chosen = next(self.index_generator)
        # Threads change pictures at the same time.
        return self._get_batches_of_transformed_samples(chosen)

    def _get_batches_of_transformed_samples(self, index_array):
        raise NotImplementedError(
            "%s._get_batches_of_transformed_samples" % type(self).__name__)

    def _save(self, batch, index_array, numbers):
        """Writes the pictures of a batch in the folder save_to_dir."""
        if not self.save_to_dir:
            return
        for i, j in enumerate(index_array):
            name = "%s_%d_%d.%s" % (self.save_prefix, j,
                                    np.random.randint(numbers),
                                    self.save_format)
            _arrays.array_to_img(batch[i], self.data_format, scale=True).save(
                os.path.join(self.save_to_dir, name))

    def _changed(self, x):
        """A picture as the ImageDataGenerator makes it."""
        maker = self.image_data_generator
        if not maker:
            return x
        return maker.standardize(maker.apply_transform(
            x, maker.get_random_transform(x.shape)))


def _check_subset(subset):
    if subset not in (None, "training", "validation"):
        raise ValueError("Invalid subset name: %s; expected \"training\" or "
                         "\"validation\"" % (subset,))


class NumpyArrayIterator(Iterator):
    """Batches of the pictures `x` [n, rows, columns, channels], or with
    "channels_first" [n, channels, rows, columns], of the type `dtype`, by
    default floatx. `x` may be (pictures, other arrays [n, ...]), which come
    with them. Labels `y` [n, ...] and `sample_weight` [n] make the batch a
    tuple. ValueError for other ranks and lengths, and a `subset`, "training" or
    "validation", with other labels than the rest."""

    def __init__(self, x, y, image_data_generator, batch_size=32, shuffle=False,
                 sample_weight=None, seed=None, data_format=None,
                 save_to_dir=None, save_prefix="", save_format="png",
                 subset=None, dtype=None):
        self.dtype = dtype or backend.floatx()
        others = []
        if isinstance(x, (tuple, list)):
            given = x[1] if isinstance(x[1], list) else [x[1]]
            x, others = x[0], [np.asarray(other) for other in given]
        for other in others:
            if len(x) != len(other):
                raise ValueError(
                    "All of the arrays in `x` should have the same length. "
                    "Found a pair with: len(x[0]) = %d, len(x[?]) = %d"
                    % (len(x), len(other)))
        for name, array in (("`y` (labels)", y),
                            ("`sample_weight`", sample_weight)):
            if array is not None and len(x) != len(array):
                raise ValueError(
                    "`x` (images tensor) and %s should have the same length. "
                    "Found: x.shape = %s, shape = %s" % (
                        name, np.shape(x), np.shape(array)))
        _check_subset(subset)
        if subset:
            at = int(len(x) * image_data_generator._validation_split)
            if y is not None and not np.array_equal(np.unique(y[:at]),
                                                    np.unique(y[at:])):
                raise ValueError(
                    "Training and validation subsets have different number of "
                    "classes after the split. If your numpy arrays are sorted "
                    "by the label, you might want to shuffle them.")
            part = slice(at) if subset == "validation" else slice(at, None)
            x, others = x[part], [other[part] for other in others]
            y = None if y is None else y[part]
        self.x = np.asarray(x, dtype=self.dtype)
        self.x_misc = others
        if self.x.ndim != 4:
            raise ValueError("Input data in `NumpyArrayIterator` should have "
                             "rank 4. You passed an array with shape %s"
                             % (self.x.shape,))
        self.data_format = data_format_of(data_format)
        _warn_of_channels(self.x, self.data_format, "NumpyArrayIterator")
        self.y = None if y is None else np.asarray(y)
        self.sample_weight = (None if sample_weight is None
                              else np.asarray(sample_weight))
        self.image_data_generator = image_data_generator
        self.save_to_dir = save_to_dir
        self.save_prefix = save_prefix
        self.save_format = save_format
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array):
        batch = np.zeros((len(index_array),) + self.x.shape[1:], self.dtype)
        for i, j in enumerate(index_array):
            batch[i] = self._changed(self.x[j].astype(self.dtype))
        self._save(batch, index_array, 10**4)
        others = [other[index_array] for other in self.x_misc]
        found = [[batch] + others if others else batch]
        if self.y is None:
            return found[0]
        found.append(self.y[index_array])
        if self.sample_weight is not None:
            found.append(self.sample_weight[index_array])
        return tuple(found)


def _warn_of_channels(x, data_format, what):
    axis = 3 if data_format == "channels_last" else 1
    if x.shape[axis] not in (1, 3, 4):
        warnings.warn(
            "%s expects images of the data format \"%s\" with 1, 3 or 4 "
            "channels on axis %d. However, it was passed an array with shape "
            "%s (%d channels)." % (what, data_format, axis, x.shape,
                                   x.shape[axis]))


class _FromFiles(Iterator):
    """Batches of pictures in files. A derived class has `filepaths`, `labels`
    and `sample_weight`."""

    def _take_options(self, image_data_generator, target_size, color_mode,
                      data_format, save_to_dir, save_prefix, save_format,
                      subset, interpolation, class_mode, dtype, modes):
        self.image_data_generator = image_data_generator
        self.target_size = tuple(target_size)
        channels = {"rgb": 3, "rgba": 4, "grayscale": 1}
        if color_mode not in channels:
            raise ValueError("Invalid color mode: %s; expected \"rgb\", "
                             "\"rgba\", or \"grayscale\"." % (color_mode,))
        if class_mode not in modes:
            raise ValueError("Invalid class_mode: %s; expected one of: %s"
                             % (class_mode, modes))
        self.color_mode = color_mode
        self.class_mode = class_mode
        self.data_format = data_format_of(data_format)
        self.image_shape = (
            self.target_size + (channels[color_mode],)
            if self.data_format == "channels_last"
            else (channels[color_mode],) + self.target_size)
        self.save_to_dir = save_to_dir
        self.save_prefix = save_prefix
        self.save_format = save_format
        self.interpolation = interpolation
        self.dtype = dtype or backend.floatx()
        _check_subset(subset)
        self.subset = subset
        self.split = None
        if subset:
            at = image_data_generator._validation_split
            self.split = (0, at) if subset == "validation" else (at, 1)

    def _part(self, things):
        """Those of the subset."""
        if not self.split:
            return things
        start, stop = (int(s * len(things)) for s in self.split)
        return things[start:stop]

    def _get_batches_of_transformed_samples(self, index_array):
        batch = np.zeros((len(index_array),) + self.image_shape, self.dtype)
        paths = self.filepaths
        for i, j in enumerate(index_array):
            img = _arrays.load_img(paths[j], color_mode=self.color_mode,
                                   target_size=self.target_size,
                                   interpolation=self.interpolation)
            batch[i] = self._changed(_arrays.img_to_array(img,
                                                          self.data_format))
        self._save(batch, index_array, 10**7)
        if self.class_mode is None:
            return batch
        labels = self._batch_labels(batch, index_array)
        if self.sample_weight is None:
            return batch, labels
        return batch, labels, self.sample_weight[index_array]

    def _batch_labels(self, batch, index_array):
        if self.class_mode == "input":
            return batch.copy()
        if self.class_mode == "multi_output":
            return [output[index_array] for output in self.labels]
        if self.class_mode == "raw":
            return self.labels[index_array]
        chosen = [self.classes[j] for j in index_array]
        if self.class_mode != "categorical":
            return np.array(chosen, self.dtype)
        labels = np.zeros((len(chosen), len(self.class_indices)), self.dtype)
        for i, classes in enumerate(chosen):
            labels[i, classes] = 1
        return labels


def _pictures_in(folder, follow_links):
    """The paths of pictures in a folder and those inside, sorted."""
    found = []
    for root, _, files in sorted(os.walk(folder, followlinks=follow_links),
                                 key=lambda entry: entry[0]):
        found += [os.path.join(root, name) for name in sorted(files)
                  if name.lower().endswith(_ENDINGS)]
    return found


class DirectoryIterator(_FromFiles):
    """Batches of the pictures in the folders of `directory`, one for each
    class: numbers [batch, rows, columns, channels] of `dtype`, by default
    floatx, and labels. `class_mode`: labels are one-hot ("categorical"), 0 and
    1 ("binary"), numbers ("sparse"), the pictures ("input") or none (None).
    `classes`: the folders, by default all, sorted. `subset`: "training" or
    "validation", by the generator's validation_split. ValueError for other
    modes; see load_img for the others."""

    allowed_class_modes = {"categorical", "binary", "sparse", "input", None}

    def __init__(self, directory, image_data_generator, target_size=(256, 256),
                 color_mode="rgb", classes=None, class_mode="categorical",
                 batch_size=32, shuffle=True, seed=None, data_format=None,
                 save_to_dir=None, save_prefix="", save_format="png",
                 follow_links=False, subset=None, interpolation="nearest",
                 dtype=None):
        self._take_options(
            image_data_generator, target_size, color_mode, data_format,
            save_to_dir, save_prefix, save_format, subset, interpolation,
            class_mode, dtype, self.allowed_class_modes)
        self.directory = directory
        classes = list(classes or sorted(
            name for name in os.listdir(directory)
            if os.path.isdir(os.path.join(directory, name))))
        self.num_classes = len(classes)
        self.class_indices = {name: i for i, name in enumerate(classes)}
        self.filenames, numbers = [], []
        for i, name in enumerate(classes):
            folder = os.path.join(directory, name)
            found = [os.path.join(name, os.path.relpath(path, folder))
                     for path in self._part(_pictures_in(folder, follow_links))]
            self.filenames += found
            numbers += [i] * len(found)
        self.samples = len(self.filenames)
        self.classes = np.array(numbers, "int32")
        print("Found %d images belonging to %d classes."
              % (self.samples, self.num_classes))
        self._filepaths = [os.path.join(directory, name)
                           for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    filepaths = property(lambda self: self._filepaths)
    labels = property(lambda self: self.classes)
    sample_weight = property(lambda self: None)


class DataFrameIterator(_FromFiles):
    """Batches of the pictures that a table of pandas names; see
    ImageDataGenerator.flow_from_dataframe."""

    allowed_class_modes = {"binary", "categorical", "input", "multi_output",
                           "raw", "sparse", None}

    def __init__(self, dataframe, directory=None, image_data_generator=None,
                 x_col="filename", y_col="class", weight_col=None,
                 target_size=(256, 256), color_mode="rgb", classes=None,
                 class_mode="categorical", batch_size=32, shuffle=True,
                 seed=None, data_format=None, save_to_dir=None, save_prefix="",
                 save_format="png", subset=None, interpolation="nearest",
                 dtype=None, validate_filenames=True):
        self._take_options(
            image_data_generator, target_size, color_mode, data_format,
            save_to_dir, save_prefix, save_format, subset, interpolation,
            class_mode, dtype, self.allowed_class_modes)
        table = dataframe.copy()
        self.directory = directory or ""
        has_classes = class_mode in ("binary", "categorical", "sparse")
        self._check(table, x_col, y_col, weight_col, classes, has_classes)
        if validate_filenames:
            table = self._with_files(table, x_col)
        if has_classes:
            table, classes = self._with_classes(table, y_col, classes)
            self.class_indices = {name: i for i, name in enumerate(classes)}
        if self.split:
            start, stop = (int(s * len(table)) for s in self.split)
            table = table.iloc[start:stop, :]
        if has_classes:
            self.classes = [
                [self.class_indices[one] for one in label] if isinstance(
                    label, (list, tuple)) else self.class_indices[label]
                for label in table[y_col]]
        self.filenames = table[x_col].tolist()
        self._sample_weight = table[weight_col].values if weight_col else None
        if class_mode == "multi_output":
            self._targets = [np.array(table[c].tolist()) for c in y_col]
        elif class_mode == "raw":
            self._targets = table[y_col].values
        self.samples = len(self.filenames)
        print("Found %d %s image filenames%s." % (
            self.samples,
            "validated" if validate_filenames else "non-validated",
            " belonging to %d classes" % len(classes) if has_classes else ""))
        self._filepaths = [os.path.join(self.directory, name)
                           for name in self.filenames]
        super().__init__(self.samples, batch_size, shuffle, seed)

    def _check(self, table, x_col, y_col, weight_col, classes, has_classes):
        mode = self.class_mode
        if mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError("If class_mode=\"%s\", y_col must be a list. "
                            "Received %s." % (mode, type(y_col).__name__))
        if not all(isinstance(x, str) for x in table[x_col]):
            raise TypeError("All values in column x_col=%s must be strings."
                            % (x_col,))
        kinds = {"binary": str, "sparse": str,
                 "categorical": (str, list, tuple)}.get(mode)
        if kinds and not all(isinstance(y, kinds) for y in table[y_col]):
            raise TypeError(
                "If class_mode=\"%s\", y_col=\"%s\" column values must be %s."
                % (mode, y_col, "strings" if kinds is str
                   else "type string, list or tuple"))
        if mode == "binary":
            names = set(classes or table[y_col])
            if len(names) != 2:
                raise ValueError("If class_mode=\"binary\" there must be 2 "
                                 "classes. Found %d classes." % len(names))
        if classes and not has_classes:
            warnings.warn("`classes` will be ignored given the class_mode=\"%s"
                          "\"" % (mode,))
        if weight_col and not issubclass(table[weight_col].dtype.type,
                                         np.number):
            raise TypeError("Column weight_col=%s must be numeric."
                            % (weight_col,))

    def _with_files(self, table, x_col):
        """The rows whose file is a picture and there."""
        good = [name.lower().endswith(_ENDINGS) and os.path.isfile(
            os.path.join(self.directory, name)) for name in table[x_col]]
        if not all(good):
            warnings.warn("Found %d invalid image filename(s) in x_col=\"%s\". "
                          "These filename(s) will be ignored."
                          % (good.count(False), x_col))
        return table[np.array(good, bool)]

    @staticmethod
    def _with_classes(table, y_col, classes):
        """(the rows of these classes, sorted classes)"""
        if classes:
            known = set(classes)

            def kept(label):
                if isinstance(label, (list, tuple)):
                    return [one for one in label if one in known] or None
                return label if label in known else None
            table = table.copy()
            table[y_col] = table[y_col].apply(kept)
            return table.dropna(subset=[y_col]), sorted(known)
        known = set()
        for label in table[y_col]:
            known.update(label if isinstance(label, (list, tuple)) else [label])
        return table.dropna(subset=[y_col]), sorted(known)

    filepaths = property(lambda self: self._filepaths)
    labels = property(lambda self: self._targets if self.class_mode in (
        "multi_output", "raw") else self.classes)
    sample_weight = property(lambda self: self._sample_weight)


class ImageDataGenerator:
    """Makes batches of pictures, numbers [batch, rows, columns, channels], that
    are changed at random and normalised.

    rotation_range and shear_range are degrees; width_shift_range and
    height_shift_range are shares of the size below 1, pixels above, or lists to
    choose from; zoom_range is a number or two factors; channel_shift_range and
    brightness_range (two factors) change the colours. featurewise_center,
    featurewise_std_normalization and zca_whitening need what `fit` learns from
    data; samplewise ones do not. `rescale` multiplies, `preprocessing_function`
    maps the numbers of a picture. `validation_split`: the share of the subset
    "validation". `dtype`: of the numbers, by default floatx.

    ValueError for other data formats, splits and ranges; ImportError without
    the packages Pillow or SciPy where they are needed."""

    def __init__(self, featurewise_center=False, samplewise_center=False,
                 featurewise_std_normalization=False,
                 samplewise_std_normalization=False, zca_whitening=False,
                 zca_epsilon=1e-06, rotation_range=0, width_shift_range=0.,
                 height_shift_range=0., brightness_range=None, shear_range=0.,
                 zoom_range=0., channel_shift_range=0., fill_mode="nearest",
                 cval=0., horizontal_flip=False, vertical_flip=False,
                 rescale=None, preprocessing_function=None, data_format=None,
                 validation_split=0.0, dtype=None):
        self.featurewise_center = featurewise_center
        self.samplewise_center = samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening = zca_whitening
        self.zca_epsilon = zca_epsilon
        self.rotation_range = rotation_range
        self.width_shift_range = width_shift_range
        self.height_shift_range = height_shift_range
        self.shear_range = shear_range
        self.channel_shift_range = channel_shift_range
        self.fill_mode = fill_mode
        self.cval = cval
        self.horizontal_flip = horizontal_flip
        self.vertical_flip = vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.dtype = dtype or backend.floatx()
        self.interpolation_order = 1
        self.data_format = data_format_of(data_format)
        first = self.data_format == "channels_first"
        self.channel_axis, self.row_axis, self.col_axis = (
            (1, 2, 3) if first else (3, 1, 2))
        if validation_split and not 0 < validation_split < 1:
            raise ValueError("`validation_split` must be strictly between 0 and "
                             "1.  Received: %s" % (validation_split,))
        self._validation_split = validation_split
        self.mean = self.std = self.principal_components = None
        if isinstance(zoom_range, (float, int)):
            zoom_range = [1 - zoom_range, 1 + zoom_range]
        elif len(zoom_range) != 2 or not all(
                isinstance(z, (float, int)) for z in zoom_range):
            raise ValueError("`zoom_range` should be a float or a tuple or list "
                             "of two floats. Received: %s" % (zoom_range,))
        self.zoom_range = list(zoom_range)
        self._settle("zca_whitening", "featurewise_center", True)
        self._settle("zca_whitening", "featurewise_std_normalization", False)
        self._settle("featurewise_std_normalization", "featurewise_center",
                     True)
        self._settle("samplewise_std_normalization", "samplewise_center", True)
        if brightness_range is not None and (
                not isinstance(brightness_range, (tuple, list))
                or len(brightness_range) != 2):
            raise ValueError("`brightness_range should be tuple or list of two "
                             "floats. Received: %s" % (brightness_range,))
        self.brightness_range = brightness_range

    def _settle(self, option, other, value):
        """`option` needs `other` to be `value`."""
        if getattr(self, option) and bool(getattr(self, other)) != value:
            setattr(self, other, value)
            warnings.warn("This ImageDataGenerator specifies `%s`, which "
                          "overrides setting of `%s`." % (option, other))

    def flow(self, x, y=None, batch_size=32, shuffle=True, sample_weight=None,
             seed=None, save_to_dir=None, save_prefix="", save_format="png",
             subset=None):
        """A NumpyArrayIterator over arrays."""
        return NumpyArrayIterator(
            x, y, self, batch_size=batch_size, shuffle=shuffle,
            sample_weight=sample_weight, seed=seed,
            data_format=self.data_format, save_to_dir=save_to_dir,
            save_prefix=save_prefix, save_format=save_format, subset=subset,
            dtype=self.dtype)

    def flow_from_directory(
            self, directory, target_size=(256, 256), color_mode="rgb",
            classes=None, class_mode="categorical", batch_size=32, shuffle=True,
            seed=None, save_to_dir=None, save_prefix="", save_format="png",
            follow_links=False, subset=None, interpolation="nearest"):
        """A DirectoryIterator over the folders of a folder."""
        return DirectoryIterator(
            directory, self, target_size=target_size, color_mode=color_mode,
            classes=classes, class_mode=class_mode,
            data_format=self.data_format, batch_size=batch_size,
            shuffle=shuffle, seed=seed, save_to_dir=save_to_dir,
            save_prefix=save_prefix, save_format=save_format,
            follow_links=follow_links, subset=subset,
            interpolation=interpolation, dtype=self.dtype)

    def flow_from_dataframe(
            self, dataframe, directory=None, x_col="filename", y_col="class",
            weight_col=None, target_size=(256, 256), color_mode="rgb",
            classes=None, class_mode="categorical", batch_size=32, shuffle=True,
            seed=None, save_to_dir=None, save_prefix="", save_format="png",
            subset=None, interpolation="nearest", validate_filenames=True,
            **kwargs):
        """Batches of the pictures in `directory` that the column x_col of a
        table of pandas names, with labels of y_col and weights of
        weight_col."""
        for key in kwargs:
            warnings.warn("%s is deprecated and ignored" % key,
                          DeprecationWarning)
        if class_mode == "other":
            warnings.warn("`class_mode` \"other\" is deprecated, please use "
                          "`class_mode` \"raw\".", DeprecationWarning)
            class_mode = "raw"
        return DataFrameIterator(
            dataframe, directory, self, x_col=x_col, y_col=y_col,
            weight_col=weight_col, target_size=target_size,
            color_mode=color_mode, classes=classes, class_mode=class_mode,
            data_format=self.data_format, batch_size=batch_size,
            shuffle=shuffle, seed=seed, save_to_dir=save_to_dir,
            save_prefix=save_prefix, save_format=save_format, subset=subset,
            interpolation=interpolation, validate_filenames=validate_filenames,
            dtype=self.dtype)

    def standardize(self, x):
        """The normalised numbers of a picture, in place where they can be."""
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        if self.featurewise_center and self._learned("featurewise_center",
                                                     self.mean):
            x -= self.mean
        if self.featurewise_std_normalization and self._learned(
                "featurewise_std_normalization", self.std):
            x /= self.std + 1e-6
        if self.zca_whitening and self._learned("zca_whitening",
                                                self.principal_components):
            flat = np.reshape(x, (-1, np.prod(x.shape[-3:])))
            x = np.reshape(flat @ self.principal_components, x.shape)
        return x

    @staticmethod
    def _learned(option, value):
        if value is None:
            warnings.warn("This ImageDataGenerator specifies `%s`, but it "
                          "hasn't been fit on any training data. Fit it first "
                          "by calling `.fit(numpy_data)`." % option)
        return value is not None

    @staticmethod
    def _random_shift(given, size):
        if np.ndim(given) == 0 and not given:
            return 0
        try:  # a number of choices, or these
            shift = np.random.choice(given) * np.random.choice([-1, 1])
        except ValueError:
            shift = np.random.uniform(-given, given)
        return shift * size if np.max(given) < 1 else shift

    def get_random_transform(self, img_shape, seed=None):
        """The dict of random changes, of np.random, for a picture of this
        shape."""
        if seed is not None:
            np.random.seed(seed)

        def around(most):
            return np.random.uniform(-most, most) if most else 0
        # In this order: others would change what a seed gives.
        found = {"theta": around(self.rotation_range)}
        found["tx"] = self._random_shift(self.height_shift_range,
                                         img_shape[self.row_axis - 1])
        found["ty"] = self._random_shift(self.width_shift_range,
                                         img_shape[self.col_axis - 1])
        found["shear"] = around(self.shear_range)
        found["zx"], found["zy"] = _arrays.random_factors(self.zoom_range)
        for way in ("horizontal", "vertical"):
            found["flip_" + way] = (np.random.random() < .5) * getattr(
                self, way + "_flip")
        found["channel_shift_intensity"] = (
            around(self.channel_shift_range) if self.channel_shift_range
            else None)
        found["brightness"] = (
            None if self.brightness_range is None
            else np.random.uniform(*self.brightness_range))
        return found

    def apply_transform(self, x, transform_parameters):
        """The numbers of a picture with the changes that get_random_transform
        gave, or some of them."""
        get = transform_parameters.get
        row, column, channel = (self.row_axis - 1, self.col_axis - 1,
                                self.channel_axis - 1)
        moves = [get(key, default) for key, default in (
            ("theta", 0), ("tx", 0), ("ty", 0), ("shear", 0), ("zx", 1),
            ("zy", 1))]
        if moves != [0, 0, 0, 0, 1, 1]:
            x = _arrays.apply_affine_transform(
                x, *moves, row_axis=row, col_axis=column, channel_axis=channel,
                fill_mode=self.fill_mode, cval=self.cval,
                order=self.interpolation_order)
        if get("channel_shift_intensity") is not None:
            x = _arrays.apply_channel_shift(x, get("channel_shift_intensity"),
                                            channel)
        if get("flip_horizontal", False):
            x = _arrays.flip_axis(x, column)
        if get("flip_vertical", False):
            x = _arrays.flip_axis(x, row)
        if get("brightness") is not None:
            x = _arrays.apply_brightness_shift(x, get("brightness"))
        return x

    def random_transform(self, x, seed=None):
        """The numbers of a picture, changed at random."""
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x, augment=False, rounds=1, seed=None):
        """Learns what the featurewise options and zca_whitening need from
        pictures [n, rows, columns, channels]; with `augment` from as many
        rounds of changed ones. ValueError for another rank."""
        x = np.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError("Input to `.fit()` should have rank 4. Got array "
                             "with shape: %s" % (x.shape,))
        _warn_of_channels(x, self.data_format, "ImageDataGenerator.fit")
        if seed is not None:
            np.random.seed(seed)
        if self.rescale:
            x *= self.rescale
        if augment:
            x = np.stack([self.random_transform(one) for _ in range(rounds)
                          for one in x]).astype(self.dtype)
        axes = 0, self.row_axis, self.col_axis
        shape = [1, 1, 1]
        shape[self.channel_axis - 1] = -1
        if self.featurewise_center:
            self.mean = np.mean(x, axis=axes).reshape(shape)
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=axes).reshape(shape)
            x /= self.std + 1e-6
        if self.zca_whitening:
            flat = x.reshape(len(x), -1)
            u, s, _ = np.linalg.svd(flat.T @ flat / len(flat))
            self.principal_components = (
                u / np.sqrt(s + self.zca_epsilon)) @ u.T
