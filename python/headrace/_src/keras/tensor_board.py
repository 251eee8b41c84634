"""tf.keras.callbacks.TensorBoard: losses, metrics, weights and outputs of a model
as events."""
import os

import numpy as np

from headrace._loading import load as _load
from headrace._src.framework import dtypes
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.messages import Summary
from headrace._src.keras.callbacks import Callback
from headrace._src.layers import backend
from headrace._src.layers.engine import as_list
from headrace._src.ops import array_ops as _array
from headrace._src.summary.event_files import FileWriter
from headrace._src.training import summary as _summary
from headrace._src.training.saver import Saver
from headrace._src.variables.variables import Variable, variables_initializer

_NOT_METRICS = ("batch", "size", "num_steps")


def _image_of(weight):
    """A weight of 1, 2 or 3 dimensions as images [count, rows, columns, 1]; None
    for others."""
    image = _array.squeeze(weight)
    shape = image.get_shape().as_list()
    if len(shape) == 2:
        if shape[0] > shape[1]:
            image = _array.transpose(image)
            shape = shape[::-1]
        return _array.reshape(image, [1] + shape + [1])
    if len(shape) == 3:
        if backend.image_data_format() == "channels_last":
            image = _array.transpose(image, perm=[2, 0, 1])
            shape = [shape[2]] + shape[:2]
        return _array.reshape(image, shape + [1])
    return _array.reshape(image, [1] + shape + [1, 1]) if shape and len(
        shape) == 1 else None


class TensorBoard(Callback):
    """Writes the loss and metrics of each epoch, and the graph, as events to
    `log_dir`.

    Args:
      histogram_freq: after how many epochs to write histograms of weights and
        outputs, for each batch of the validation data; 0: never.
      batch_size: of embeddings_data.
      write_graph, write_grads, write_images: also the graph; histograms of the
        gradients; weights of up to 3 dimensions as pictures.
      embeddings_freq: after how many epochs to write a checkpoint of what the
        layers embeddings_layer_names (by default all that are Embedding) make
        of embeddings_data, arrays as the model takes them, for TensorBoard's
        projector; embeddings_metadata: a file, or {layer: file}.
      update_freq: "epoch", "batch", or after how many samples to write losses.
      profile_batch: is not used; ProfilerHook and tf.profiler show what a step
        took.
    Raises:
      ValueError: embeddings_freq without embeddings_data.
    """

    _chief_worker_only = True

    def __init__(self, log_dir="./logs", histogram_freq=0, batch_size=32,
                 write_graph=True, write_grads=False, write_images=False,
                 embeddings_freq=0, embeddings_layer_names=None,
                 embeddings_metadata=None, embeddings_data=None,
                 update_freq="epoch", profile_batch=2):
        super().__init__()
        self.log_dir = log_dir
        self.histogram_freq = histogram_freq
        self.batch_size = batch_size
        self.write_graph = write_graph
        self.write_grads = write_grads
        self.write_images = write_images
        self.embeddings_freq = embeddings_freq
        self.embeddings_layer_names = embeddings_layer_names
        self.embeddings_metadata = embeddings_metadata
        self.embeddings_data = embeddings_data
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.merged = None
        self._samples = self._samples_written = 0
        self._batches = self._validation_batches = 0

    def set_model(self, model):
        super().set_model(model)
        self.writer = FileWriter(
            self.log_dir, backend.get_session().graph if self.write_graph
            else None)
        if self.histogram_freq and self.merged is None:
            self._add_histograms(model)
        self.merged = _summary.merge_all()
        if self.embeddings_freq and self.embeddings_data is not None:
            self._add_embeddings(model)

    def _add_histograms(self, model):
        for layer in model.layers:
            for weight in layer.weights:
                name = weight.name.replace(":", "_")
                _summary.histogram(name, weight)
                image = _image_of(weight) if self.write_images else None
                if image is not None:
                    _summary.image(name, image)
            if self.write_grads:
                self._add_gradients(model, layer)
            outputs = as_list(getattr(layer, "output", None))
            for i, output in enumerate(outputs):
                _summary.histogram("%s_out%s" % (
                    layer.name, "_%d" % i if len(outputs) > 1 else ""), output)

    @staticmethod
    def _add_gradients(model, layer):
        for weight in layer.trainable_weights:
            grad, = model.optimizer.get_gradients(model.total_loss, [weight])
            if isinstance(grad, IndexedSlices):
                grad = grad.values
            _summary.histogram(weight.name.replace(":", "_") + "_grad", grad)

    def _add_embeddings(self, model):
        """Variables for what the layers make of the data, and the file that
        tells the projector of them."""
        data = self.embeddings_data
        self.embeddings_data = [np.asarray(data[name]) for name in
                                model.input_names] if isinstance(
                                    data, dict) else [
                                        np.asarray(x) for x in as_list(data)]
        self._begin = _array.placeholder(dtypes.int32, [])
        self._size = _array.placeholder(dtypes.int32, [])
        kept, self._assigned = {}, []
        names = self.embeddings_layer_names or [
            layer.name for layer in model.layers
            if type(layer).__name__ == "Embedding"]
        for name in names:
            output = model.get_layer(name).output
            width = int(np.prod(backend.int_shape(output)[1:]))
            kept[name] = Variable(
                _array.zeros([len(self.embeddings_data[0]), width]),
                name=name + "_embedding", trainable=False)
            self._assigned.append(kept[name][
                self._begin:self._begin + self._size].assign(
                    _array.reshape(output, [self._size, width])))
        backend.get_session().run(variables_initializer(list(kept.values())))
        self._saver = Saver(list(kept.values()))
        projector = _load("_src.compat.projector")
        config, files = projector.ProjectorConfig(), self.embeddings_metadata
        for name, variable in kept.items():
            embedding = config.embeddings.add()
            embedding.tensor_name = variable.name
            path = files if isinstance(files, str) else (files or {}).get(name)
            if path is not None:
                embedding.metadata_path = path
        projector.visualize_embeddings(self.writer, config)

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
            if name not in _NOT_METRICS})

    def _write_histograms(self, summary):
        self.writer.add_summary(summary, self._validation_batches)
        self._validation_batches += 1

    def on_batch_end(self, batch, logs=None):
        self._samples += (logs or {}).get("size", 1)
        if self.update_freq != "epoch" and (
                self._samples - self._samples_written >= self.update_freq):
            self._log_metrics(logs, "batch_", self._batches)
            self._samples_written = self._samples
        self._batches += 1

    def on_epoch_begin(self, epoch, logs=None):
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self.model._test_fetches[self.merged] = self._write_histograms

    def on_epoch_end(self, epoch, logs=None):
        self._log_metrics(logs, "epoch_", epoch if self.update_freq == "epoch"
                          else self._samples)
        self.model._test_fetches.pop(self.merged, None)
        if not self.embeddings_freq:
            return
        if self.embeddings_data is None:
            raise ValueError("To visualize embeddings, embeddings_data must be "
                             "provided.")
        if epoch % self.embeddings_freq == 0:
            self._write_embeddings(epoch)

    def _write_embeddings(self, epoch):
        session, count = backend.get_session(), len(self.embeddings_data[0])
        for begin in range(0, count, self.batch_size):
            size = min(self.batch_size, count - begin)
            feed = dict(zip(self.model.inputs, (
                x[begin:begin + size] for x in self.embeddings_data)))
            feed.update({self._begin: begin, self._size: size})
            phase = backend.learning_phase()
            if not isinstance(phase, int):
                feed[phase] = False
            session.run(self._assigned, feed)
        self._saver.save(session, os.path.join(
            self.log_dir, "keras_embedding.ckpt"), epoch)

    def on_train_end(self, logs=None):
        self.writer.close()
