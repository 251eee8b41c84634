"""Slots: variables that an optimizer or a moving average keeps beside another
variable, with names under its name (`w/Momentum`)."""
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.variables import initializers as _init
from headrace._src.variables import scopes as _scopes
from headrace._src.variables.base import Variable
from headrace._src.variables.records import SaveSliceInfo
from headrace._src.variables.strategies import colocate_vars_with


def _slice_info(primary, slot):
    """What a Saver must know of the slot of a part of a variable."""
    info = primary._get_save_slice_info()
    if info is None:
        return
    slot_name = slot.op.name[len(primary.op.name) + 1:]
    rank = slot.get_shape().ndims
    slot._set_save_slice_info(SaveSliceInfo(
        "%s/%s" % (info.full_name, slot_name), info.full_shape[:rank],
        info.var_offset[:rank], info.var_shape[:rank]))


def _make(primary, name, colocate, initializer, validate_shape, **options):
    is_variable = isinstance(primary, Variable)
    use_resource = primary._is_resource if is_variable else None

    def variable():
        scope = _scopes.get_variable_scope()
        partitioner = scope.partitioner
        scope.set_partitioner(None)
        try:
            slot = _scopes.get_variable(
                "", initializer=initializer, trainable=False,
                use_resource=use_resource, validate_shape=validate_shape,
                **options)
        finally:
            scope.set_partitioner(partitioner)
        if is_variable:
            _slice_info(primary, slot)
        return slot

    own = primary._shared_name if is_variable else primary.op.name
    with _scopes.variable_scope(None, "%s/%s" % (own, name)):
        if not colocate:
            return variable()
        with colocate_vars_with(primary):
            return variable()


def create_slot(primary, val, name, colocate_with_primary=True):
    """A slot of `primary`, a variable or a tensor, that begins with the tensor
    `val`."""
    return _make(primary, name, colocate_with_primary, val,
                 val.get_shape().is_fully_defined())


def create_slot_with_initializer(primary, initializer, shape, dtype, name,
                                 colocate_with_primary=True):
    """A slot of this shape and type."""
    shape = TensorShape(shape)
    return _make(primary, name, colocate_with_primary, initializer,
                 shape.is_fully_defined(), shape=shape, dtype=dtype)


def create_zeros_slot(primary, name, dtype=None, colocate_with_primary=True):
    """A slot of the shape of `primary`, of zeros. Its type is that of
    `primary` if `dtype` is None."""
    dtype = (primary.dtype if dtype is None else dtype).base_dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(
            primary, _init.zeros_initializer(), shape, dtype, name,
            colocate_with_primary)
    value = (primary.initialized_value() if isinstance(primary, Variable)
             else primary)
    return create_slot(primary, _array.zeros(_array.shape(value), dtype), name,
                       colocate_with_primary)
