"""How kernels are compiled by numba, and what they take from the processor. Importing this imports numba."""

from __future__ import annotations

from contextlib import suppress

from llvmlite import ir
from numba import njit, types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic


class _Kept(FunctionCache):  # type: ignore[misc]
    """Compiled code on disk. What is damaged there, or is for other types, is compiled again.

    Two processes that compile for different types at once may give their files the same name.
    """

    def load_overload(self, sig, target_context):
        try:
            kept = super().load_overload(sig, target_context)
        except Exception:  # whatever reading a damaged pickle, or one that names what is gone, may raise
            return None
        return kept if kept is None or kept.signature.args == sig else None

    def save_overload(self, sig, data):
        with suppress(Exception):  # a full disk, too: what was compiled serves this process
            try:
                super().save_overload(sig, data)
            except Exception:
                self.flush()  # an index that cannot be read, which saving does first
                super().save_overload(sig, data)


def compiled(function):
    """A function compiled by numba for each kind of arguments, kept on disk if there is a place for it."""
    code = njit(function, nogil=True, error_model="numpy")
    with suppress(RuntimeError):  # neither beside the source nor at home: every process compiles again
        code._cache = _Kept(function)
    return code


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
    """Bring the line of memory that holds this entry, if there is one, into the caches."""

    def code(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        line = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [line.type, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [line.type], kind)
        builder.call(fetch, [line, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), code
