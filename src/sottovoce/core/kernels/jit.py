"""How kernels are compiled by numba, and what they take from the processor. Importing this imports numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

COMPILE: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}


@intrinsic
def as_double(context, word):
    """The double with these 64 bits."""

    def code(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), code


@intrinsic
def as_word(context, number):
    """The 64 bits of a double. Those of numbers that are not negative are in the order of the numbers."""

    def code(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), code


@intrinsic
def fetch(context, array, index):
    """Bring the line of the cache that holds this entry, if there is one, into the first cache, for once."""

    def code(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        line = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [line.type, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [line.type], kind)
        builder.call(fetch, [line, number(0), number(0), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), code
