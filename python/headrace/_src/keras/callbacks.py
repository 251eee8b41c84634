"""tf.keras.callbacks: what runs between the steps of Model.fit."""
import collections
import csv
import json
import os

import numpy as np

from headrace._src.layers import backend
from headrace._src.platform import tf_logging as _logging
from headrace._src.keras.progress import Progbar
from headrace._src.ops import array_ops as _array
from headrace._src.summary.event_files import FileWriter
from headrace._src.training import summary as _summary
from headrace._src.framework.messages import Summary


class Callback:
    """Its methods are called at the begin and end of the training, of each
    epoch and of each batch. `model` and `params` are set before."""

    def __init__(self):
        self.validation_data = None
        self.model = None
        self.params = {}

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self.model = model

    def on_batch_begin(self, batch, logs=None):
        pass

    def on_batch_end(self, batch, logs=None):
        pass

    def on_train_batch_begin(self, batch, logs=None):
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        self.on_batch_end(batch, logs)

    def on_test_batch_begin(self, batch, logs=None):
        pass

    def on_test_batch_end(self, batch, logs=None):
        pass

    def on_predict_batch_begin(self, batch, logs=None):
        pass

    def on_predict_batch_end(self, batch, logs=None):
        pass

    def on_epoch_begin(self, epoch, logs=None):
        pass

    def on_epoch_end(self, epoch, logs=None):
        pass

    def on_train_begin(self, logs=None):
        pass

    def on_train_end(self, logs=None):
        pass

    def on_test_begin(self, logs=None):
        pass

    def on_test_end(self, logs=None):
        pass

    def on_predict_begin(self, logs=None):
        pass

    def on_predict_end(self, logs=None):
        pass


class CallbackList:
    """Callbacks that are called one after the other."""

    def __init__(self, callbacks, model, params):
        self._callbacks = list(callbacks)
        for callback in self._callbacks:
            callback.set_model(model)
            callback.set_params(params)

    def __call__(self, hook, *args):
        for callback in self._callbacks:
            getattr(callback, "on_" + hook)(*args)


class BaseLogger(Callback):
    """Does nothing: `fit` itself averages over an epoch."""

    def __init__(self, stateful_metrics=None):
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())


class TerminateOnNaN(Callback):
    """Stops the training when the loss is NaN or infinite."""

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print("Batch %d: Invalid loss, terminating training" % batch)
            self.model.stop_training = True


class ProgbarLogger(Callback):
    """Prints a bar and the metrics."""

    def __init__(self, count_mode="samples", stateful_metrics=None):
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError("Unknown `count_mode`: %s" % (count_mode,))
        self._steps = count_mode == "steps"

    def on_train_begin(self, logs=None):
        self._verbose = self.params["verbose"]
        self._epochs = self.params["epochs"]

    def on_epoch_begin(self, epoch, logs=None):
        self._seen = 0
        self._target = self.params["steps" if self._steps else "samples"]
        if self._verbose:
            if self._epochs > 1:
                print("Epoch %d/%d" % (epoch + 1, self._epochs))
            self._bar = Progbar(
                self._target, verbose=self._verbose, averages=False,
                unit_name="step" if self._steps else "sample")

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        self._seen += 1 if self._steps else logs.get("size", 0)
        if self._verbose and (self._target is None
                              or self._seen < self._target):
            self._bar.update(self._seen, self._shown(logs))

    def on_epoch_end(self, epoch, logs=None):
        if self._verbose:
            self._bar.target = self._seen
            self._bar.update(self._seen, self._shown(logs or {}))

    def _shown(self, logs):
        return [(k, logs[k]) for k in self.params["metrics"] if k in logs]


class History(Callback):
    """What `fit` returns: `history` has a list of values, one an epoch, for the
    loss and each metric; `epoch` the numbers of the epochs."""

    def on_train_begin(self, logs=None):
        self.epoch = []
        self.history = {}

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for key, value in (logs or {}).items():
            self.history.setdefault(key, []).append(value)


class _Monitor(Callback):
    """Compares a metric with its best value so far."""

    def _watch(self, monitor, mode, min_delta=0.):
        if mode not in ("auto", "min", "max"):
            _logging.warning("%s mode %s is unknown, fallback to auto mode.",
                             type(self).__name__, mode)
            mode = "auto"
        self.monitor = monitor
        up = mode == "max" or mode == "auto" and (
            "acc" in monitor or monitor.startswith("fmeasure"))
        self._up, self._min_delta = up, abs(min_delta)
        self.best = -np.inf if up else np.inf

    def _is_better(self, value):
        if self._up:
            return value - self._min_delta > self.best
        return value + self._min_delta < self.best

    def _value(self, logs):
        value = (logs or {}).get(self.monitor)
        if value is None:
            _logging.warning(
                "%s is conditioned on metric `%s` which is not available. "
                "Available metrics are: %s", type(self).__name__, self.monitor,
                ",".join(logs or ()))
        return value


class EarlyStopping(_Monitor):
    """Stops when a metric has not become better for `patience` epochs."""

    def __init__(self, monitor="val_loss", min_delta=0, patience=0, verbose=0,
                 mode="auto", baseline=None, restore_best_weights=False):
        super().__init__()
        self._watch(monitor, mode, min_delta)
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.wait = self.stopped_epoch = 0
        self.best_weights = None

    def on_train_begin(self, logs=None):
        self.wait = self.stopped_epoch = 0
        self.best = self.baseline if self.baseline is not None else (
            -np.inf if self._up else np.inf)

    def on_epoch_end(self, epoch, logs=None):
        current = self._value(logs)
        if current is None:
            return
        if self._is_better(current):
            self.best = current
            self.wait = 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.restore_best_weights and self.best_weights is not None:
                if self.verbose:
                    print("Restoring model weights from the end of the best "
                          "epoch.")
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs=None):
        if self.stopped_epoch and self.verbose:
            print("Epoch %05d: early stopping" % (self.stopped_epoch + 1))


class ModelCheckpoint(_Monitor):
    """Saves the model after each epoch to `filepath`, which may contain {epoch}
    and metrics: whole, in an HDF5 file, or its weights alone."""

    def __init__(self, filepath, monitor="val_loss", verbose=0,
                 save_best_only=False, save_weights_only=False, mode="auto",
                 save_freq="epoch", **kwargs):
        super().__init__()
        self._watch(monitor, mode)
        self.filepath = filepath
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.period = kwargs.get("period", 1)
        self._seen = self._epochs = 0

    def on_batch_end(self, batch, logs=None):
        if isinstance(self.save_freq, int):
            self._seen += (logs or {}).get("size", 1)
            if self._seen >= self.save_freq:
                self._save(self._epoch, logs)
                self._seen = 0

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_epoch_end(self, epoch, logs=None):
        self._epochs += 1
        if self.save_freq == "epoch" and self._epochs >= self.period:
            self._epochs = 0
            self._save(epoch, logs)

    def _save(self, epoch, logs):
        path = self.filepath.format(epoch=epoch + 1, **(logs or {}))
        if self.save_best_only:
            current = self._value(logs)
            if current is None or not self._is_better(current):
                return
            if self.verbose:
                print("\nEpoch %05d: %s improved from %0.5f to %0.5f, saving "
                      "model to %s" % (epoch + 1, self.monitor, self.best,
                                       current, path))
            self.best = current
        elif self.verbose:
            print("\nEpoch %05d: saving model to %s" % (epoch + 1, path))
        save = (self.model.save_weights if self.save_weights_only
                else self.model.save)
        save(path, overwrite=True)


class LearningRateScheduler(Callback):
    """Sets the rate to schedule(epoch) or schedule(epoch, rate) before each
    epoch."""

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch, logs=None):
        variable = self.model.optimizer.lr
        try:
            rate = self.schedule(epoch, float(backend.get_value(variable)))
        except TypeError:
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError("The output of the \"schedule\" function should "
                             "be float.")
        backend.set_value(variable, rate)
        if self.verbose:
            print("\nEpoch %05d: LearningRateScheduler reducing learning rate "
                  "to %s." % (epoch + 1, rate))

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["lr"] = backend.get_value(self.model.optimizer.lr)


class ReduceLROnPlateau(_Monitor):
    """Multiplies the rate by `factor` when a metric has not become better for
    `patience` epochs."""

    def __init__(self, monitor="val_loss", factor=0.1, patience=10, verbose=0,
                 mode="auto", min_delta=0.0001, cooldown=0, min_lr=0,
                 **kwargs):
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= "
                             "1.0.")
        self._mode = mode
        self._watch(monitor, mode, kwargs.pop("epsilon", min_delta))
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.wait = self.cooldown_counter = 0

    def on_train_begin(self, logs=None):
        self._watch(self.monitor, self._mode, self._min_delta)
        self.wait = self.cooldown_counter = 0

    def on_epoch_end(self, epoch, logs=None):
        logs = {} if logs is None else logs
        logs["lr"] = backend.get_value(self.model.optimizer.lr)
        current = self._value(logs)
        if current is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_better(current):
            self.best = current
            self.wait = 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            old = float(logs["lr"])
            if self.wait >= self.patience and old > self.min_lr:
                new = max(old * self.factor, self.min_lr)
                backend.set_value(self.model.optimizer.lr, new)
                if self.verbose:
                    print("\nEpoch %05d: ReduceLROnPlateau reducing learning "
                          "rate to %s." % (epoch + 1, new))
                self.cooldown_counter = self.cooldown
                self.wait = 0


class LambdaCallback(Callback):
    """Calls the given functions."""

    def __init__(self, on_epoch_begin=None, on_epoch_end=None,
                 on_batch_begin=None, on_batch_end=None, on_train_begin=None,
                 on_train_end=None, **kwargs):
        super().__init__()
        given = dict(kwargs, on_epoch_begin=on_epoch_begin,
                     on_epoch_end=on_epoch_end, on_batch_begin=on_batch_begin,
                     on_batch_end=on_batch_end, on_train_begin=on_train_begin,
                     on_train_end=on_train_end)
        for name, function in given.items():
            if function is not None:
                setattr(self, name, function)


class CSVLogger(Callback):
    """Writes the values of each epoch as a line of a CSV file."""

    def __init__(self, filename, separator=",", append=False):
        super().__init__()
        self.filename = filename
        self.separator = separator
        self.append = append
        self._writer = None

    def on_train_begin(self, logs=None):
        self._header = not (self.append and os.path.exists(self.filename)
                            and os.path.getsize(self.filename))
        self._file = open(self.filename, "a" if self.append else "w",
                          newline="")

    def on_epoch_end(self, epoch, logs=None):
        row = collections.OrderedDict(epoch=epoch)
        for key in sorted(logs or {}):
            row[key] = logs[key]
        if self._writer is None:
            self._writer = csv.DictWriter(
                self._file, fieldnames=list(row), delimiter=self.separator,
                lineterminator="\n")
            if self._header:
                self._writer.writeheader()
        self._writer.writerow(row)
        self._file.flush()

    def on_train_end(self, logs=None):
        self._file.close()
        self._writer = None


class TensorBoard(Callback):
    """Writes the loss and metrics of each epoch, and the graph, as events to
    `log_dir`; with histogram_freq also histograms of the weights after each
    epoch that it divides, and with write_images these as images. Histograms of
    outputs and gradients, and embeddings, are not supported: no outputs are
    written, and ValueError where the others are asked for."""

    def __init__(self, log_dir="./logs", histogram_freq=0, batch_size=32,
                 write_graph=True, write_grads=False, write_images=False,
                 embeddings_freq=0, embeddings_layer_names=None,
                 embeddings_metadata=None, embeddings_data=None,
                 update_freq="epoch", profile_batch=2):
        super().__init__()
        for name, value in (("write_grads", write_grads and histogram_freq),
                            ("embeddings_freq", embeddings_freq)):
            if value:
                raise ValueError("TensorBoard: %s is not supported; write "
                                 "summaries with tf.summary" % name)
        self.log_dir = log_dir
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.write_images = write_images
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self._seen = self._written = 0

    def set_model(self, model):
        super().set_model(model)
        self.merged = (self._summary_of_weights() if self.histogram_freq
                       else None)
        self.writer = FileWriter(
            self.log_dir, backend.get_session().graph if self.write_graph
            else None)

    def _summary_of_weights(self):
        found = []
        for layer in self.model.layers:
            for weight in layer.weights:
                name = weight.name.replace(":", "_")
                found.append(_summary.histogram(name, weight))
                image = _as_image(weight) if self.write_images else None
                if image is not None:
                    found.append(_summary.image(name, image))
        return _summary.merge(found) if found else None

    def _write_custom_summaries(self, step, logs=None):
        """Writes {tag: number}."""
        summary = Summary()
        for name, value in (logs or {}).items():
            summary.value.add(tag=name, simple_value=float(value))
        self.writer.add_summary(summary, step)
        self.writer.flush()

    def _log_metrics(self, logs, prefix, step):
        """Writes {name: number} without the numbers of the batch, with `prefix`
        before the names."""
        self._write_custom_summaries(step, {
            prefix + name: value for name, value in (logs or {}).items()
            if name not in ("batch", "size", "num_steps")})

    def on_batch_end(self, batch, logs=None):
        if self.update_freq == "epoch":
            return
        self._seen += (logs or {}).get("size", 1)
        if self._seen - self._written >= self.update_freq:
            self._written = self._seen
            self._log_metrics(logs, "batch_", self._seen)

    def on_epoch_end(self, epoch, logs=None):
        self._log_metrics(logs, "epoch_", epoch)
        if self.merged is not None and epoch % self.histogram_freq == 0:
            self.writer.add_summary(
                backend.get_session().run(self.merged), epoch)

    def on_train_end(self, logs=None):
        self.writer.close()


def _as_image(weight):
    """A weight as images [number, height, width, channels], or None: matrices
    are wide, a vector is one row, and of three dimensions the last numbers the
    images."""
    image = _array.squeeze(weight)
    sides = image.get_shape().as_list()
    if len(sides) == 1:
        return _array.reshape(image, [1, sides[0], 1, 1])
    if len(sides) == 2:
        if sides[0] > sides[1]:
            image, sides = _array.transpose(image), sides[::-1]
        return _array.reshape(image, [1, *sides, 1])
    if len(sides) == 3:
        if backend.image_data_format() == "channels_last":
            image, sides = _array.transpose(image, [2, 0, 1]), [
                sides[2], *sides[:2]]
        return _array.reshape(image, [*sides, 1])
    return None


class RemoteMonitor(Callback):
    """After each epoch, sends its number and logs to a server by POST: as JSON,
    or with `send_as_json` False as JSON in the form's field `field`. `headers`: a
    dict of HTTP headers. A server that does not answer gets a warning. Values
    are numbers of any dtype, without shapes. ImportError without the package
    requests."""

    def __init__(self, root="http://localhost:9000",
                 path="/publish/epoch/end/", field="data", headers=None,
                 send_as_json=False):
        super().__init__()
        self.root = root
        self.path = path
        self.field = field
        self.headers = headers
        self.send_as_json = send_as_json

    def on_epoch_end(self, epoch, logs=None):
        try:
            import requests  # type: ignore
        except ImportError as error:
            raise ImportError("RemoteMonitor requires the `requests` library: "
                              "pip install requests") from error
        sent = {"epoch": epoch, **{
            key: value.item() if hasattr(value, "item") else value
            for key, value in (logs or {}).items()}}
        given = {"json": sent} if self.send_as_json else {
            "data": {self.field: json.dumps(sent)}}
        try:
            requests.post(self.root + self.path, headers=self.headers, **given)
        except requests.exceptions.RequestException:
            _logging.warning("Warning: could not reach RemoteMonitor root server "
                             "at %s", self.root)
