"""contrib.tensorboard.plugins.projector: the file for TensorBoard's projector."""
import pytest

import headrace as tf
from headrace import _names

projector = _names.load("compat.projector")

TEXT = """model_checkpoint_path: "m.ckpt"
embeddings {
  tensor_name: "a\\"b\\\\\\303\\244:0"
  metadata_path: "m.tsv"
  sprite {
    image_path: "s.png"
    single_image_dim: 28
    single_image_dim: 0
  }
}
embeddings {
}
"""


def test_the_file(tmp_path):
    config = projector.ProjectorConfig(model_checkpoint_path="m.ckpt")
    e = config.embeddings.add()
    e.tensor_name, e.metadata_path = "a\"b\\\u00e4:0", "m.tsv"
    e.sprite.image_path = "s.png"
    e.sprite.single_image_dim.extend([28, 0])
    config.embeddings.append(projector.EmbeddingInfo())
    writer = tf.summary.FileWriter(str(tmp_path))
    projector.visualize_embeddings(writer, config)
    assert (tmp_path / "projector_config.pbtxt").read_text() == TEXT
    copy = projector.ProjectorConfig()
    copy.CopyFrom(config)
    assert copy == config and str(copy) == TEXT
    copy.embeddings[1].tensor_shape.append(3)
    assert copy != config
    copy.MergeFrom(config)
    assert len(copy.embeddings) == 4


def test_refusals():
    config = projector.ProjectorConfig()
    with pytest.raises(AttributeError, match="no field 'tensor_name'"):
        config.tensor_name = "x"
    with pytest.raises(AttributeError, match="Assignment not allowed"):
        config.embeddings = []
    with pytest.raises(TypeError, match="expected str"):
        config.model_checkpoint_path = 3
    e = config.embeddings.add()
    with pytest.raises(TypeError, match="expected int"):
        e.tensor_shape.append("x")
    with pytest.raises(ValueError, match="out of range"):
        e.tensor_shape.append(-1)
    with pytest.raises(TypeError, match="expected ProjectorConfig"):
        config.CopyFrom(e)

    class Writer:
        def get_logdir(self):
            return None

    with pytest.raises(ValueError, match="must have a logdir"):
        projector.visualize_embeddings(Writer(), config)


def test_the_text_is_read_again():
    config = projector.ProjectorConfig(model_checkpoint_path="m.ckpt")
    one = config.embeddings.add(tensor_name="a \"q\" \u00e9\n")
    one.sprite.single_image_dim.extend([3, 4])
    copy = projector.ProjectorConfig()
    copy.MergeText(str(config))
    assert copy == config
    copy.MergeText("# more\nembeddings: { tensor_path: 'p' };")
    assert [e.tensor_path for e in copy.embeddings] == ["", "p"]


@pytest.mark.parametrize("text, message", [
    ("nope: 1", "ProjectorConfig has no field 'nope'"),
    ("embeddings { tensor_name: 3 }", "EmbeddingInfo.tensor_name: '3'"),
    ("embeddings {", "ends too early"),
    ("model_checkpoint_path:", "''"),
    ("model_checkpoint_path: @", "no text of a message"),
])
def test_texts_that_are_no_config(text, message):
    with pytest.raises(ValueError, match=message):
        projector.ProjectorConfig().MergeText(text)
