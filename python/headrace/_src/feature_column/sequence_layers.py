"""Layers of sequence columns, and what joins their output with features of the
whole example."""
from headrace._src.control.check_ops import assert_rank, assert_type
from headrace._src.feature_column import columns as _columns
from headrace._src.feature_column import sequences as _sequences
from headrace._src.feature_column.feature_layers import ColumnLayer, check_features
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.ops import array_ops as _array


class SequenceFeatures(ColumnLayer):
    """The layer that maps a dict of features to what the sequence columns make
    of them: float32 [batch, time, width], side by side in the order of the
    columns' names, and the lengths, int64 [batch]. The variables of embeddings
    are resource variables and the layer's.

    features: SparseTensors [batch, time] or [batch, time, n] by key.

    ValueError for other columns and two columns of one name;
    InvalidArgumentError in the run for columns of unequal lengths."""

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(
            feature_columns,
            (_sequences.SequenceNumericColumn, _columns.IndicatorColumn,
             _columns.EmbeddingColumn, _columns.SharedEmbeddingColumn),
            "Items of feature_columns must be a SequenceDenseColumn. You can "
            "wrap a sequence_categorical_column with an embedding_column or "
            "indicator_column", trainable, name, **kwargs)

    def call(self, features):
        made = check_features(features)
        outputs, lengths = [], []
        for column in self._feature_columns:
            if not column.is_sequence:
                kind = ("indicator" if isinstance(
                    column, _columns.IndicatorColumn) else "embedding")
                raise ValueError(
                    "In %s_column: %s. categorical_column must be of type "
                    "SequenceCategoricalColumn to use SequenceFeatures. Given "
                    "(type %s): %s" % (
                        kind, column.name, type(column.categorical_column),
                        column.categorical_column))
            with name_scope(column.name):
                dense, length = _sequences.sequence_of(
                    column, made, lambda: column.rows_of_state(
                        made, self._state_manager))
                outputs.append(_sequences.flat_steps(dense, column))
            lengths.append(length)
        return _sequences.side_by_side(outputs, lengths)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[1],
                sum(c.variable_shape.num_elements()
                    for c in self._feature_columns))


def concatenate_context_input(context_input, sequence_input):
    """float32 [batch, time, n + m]: sequence_input, float32 [batch, time, n],
    with context_input, float32 [batch, m], at each step. TypeError and
    ValueError for other types and ranks."""
    checks = [
        assert_rank(sequence_input, 3,
                    message="sequence_input must have rank 3"),
        assert_type(sequence_input, dtypes.float32,
                    message="sequence_input must have dtype float32; got %s."
                    % sequence_input.dtype),
        assert_rank(context_input, 2, message="context_input must have rank 2"),
        assert_type(context_input, dtypes.float32,
                    message="context_input must have dtype float32; got %s."
                    % context_input.dtype)]
    with control_dependencies(checks):
        steps = _array.shape(sequence_input)[1]
        tiled = _array.tile(_array.expand_dims(context_input, 1),
                            _array.concat([[1], [steps], [1]], 0))
    return _array.concat([sequence_input, tiled], 2)
