//! The table of operations: what can stand on the right of `%v = …`.

macro_rules! operations {
    ($with:ident) => {
        $with! {
            /// An operation. It reads values, gives one value, and is evaluated where it stands, in order.
            #[derive(Clone, Debug, PartialEq, Eq, Hash)]
            Op:

            Const(constant: Const)
                = "const {constant}", Pure, check constant(constant);

            /// The current value of a local.
            Get(local: Local)
                = "get {local}", Get, check get(local);

            Unary(op: UnOp, a: Value as Scalar)
                = "{op} {a}", Pure, check unary(op, a);

            Binary(op: BinOp, a: Value as Scalar, b: Value as Scalar)
                = "{op} {a}, {b}", Pure, check binary(op, a, b);

            /// Ordered comparison of two values of one scalar type; any comparison with NaN but `Ne` is false. Complex: `Eq`, `Ne` only.
            Compare(op: CmpOp, a: Value as Scalar, b: Value as Scalar) -> Bool "the result of a comparison"
                = "{op} {a}, {b}", Pure, check compare(op, a, b);

            /// `cond ? a : b`, both evaluated.
            Select(cond: Value as Condition, a: Value as Same, b: Value as Same)
                = "select {cond}, {a}, {b}", Pure;

            /// `a * b + c` with one rounding, in the 16-bit floats too.
            Fma(a: Value as Same, b: Value as Same, c: Value as Same)
                = "fma {a}, {b}, {c}", Pure, check fma();

            /// Numeric conversion to the result's scalar type. Integers keep their low bits; `bool` is whether the operand is not zero; a
            /// complex number becomes real by its real part. What a float type cannot hold is rounded once, half to even, but on the way to
            /// `bf16` to `f32` first, as elsewhere in Python. Floats to integers truncate towards zero; out of range is the same on every
            /// device, as x86's conversions have it: to `i32` and `i64` the minimum of the type (NaN too); to `i8`, `i16`, `u8`, `u16` the
            /// low bits of the conversion to `i32`; to `u32` the low bits of the conversion to `i64`; to `u64` the conversion to `i64` if
            /// that is in range, else exact below 2^64, else (NaN too) 0.
            Cast(a: Value as Scalar)
                = "cast {a}", Pure, check cast();

            /// Same bits, other type of the same size.
            Bitcast(a: Value as Scalar)
                = "bitcast {a}", Pure, check bitcast(a);

            Complex(re: Value, im: Value)
                = "complex {re}, {im}", Pure, check complex(re, im);

            Re(a: Value)
                = "re {a}", Pure, check part(a);

            Im(a: Value)
                = "im {a}", Pure, check part(a);

            Tuple(items: Vec<Value>)
                = "tuple({items})", Pure, check tuple(items);

            Item(tuple: Value, item: u32)
                = "item {tuple}, {item}", Pure, check item(tuple, item);

            Call(func: FuncId, args: Vec<Value>)
                = "call {func}({args})", Call, check call(func, args);

            /// Length of an axis.
            Dim(view: Value as View, axis: u8) -> I64
                = "dim {view}, {axis}", Pure, check dim(view, axis);

            Load { view: Value as View, indices: Vec<Index> as Index, part: Part }
                = "load {view}[{indices}]{part}", Load, check load(view, indices, part);

            /// Basic indexing: integers, slices, new axes.
            Slice { view: Value as View, axes: Vec<AxisSlice> as Index }
                = "slice {view}[{axes}]", Pure, check slice(view, axes);

            /// Axes permuted: result axis `i` is the operand's axis `perm[i]`.
            Transpose(view: Value as View, perm: Vec<u8>)
                = "transpose {view}[{perm}]", Pure, check transpose(view, perm);

            /// One part of every element of a complex view, as a view: the same axes, in the same memory. `Re` or `Im`.
            PartView(view: Value as View, part: Part)
                = "part {view}{part}", Pure, check part_view(view, part);

            /// Another shape on a C-contiguous view of as many elements.
            Reshape(view: Value as View, shape: Vec<Value> as Extent)
                = "reshape {view}[{shape}]", Pure, check reshape(view, shape);

            /// A fresh C-contiguous global array; freed by the runtime when no result refers to it. Host functions only. Raises a
            /// ValueError where the bytes of its shape, with 1 in place of zeros, pass `i64::MAX`.
            Alloc { zeroed: bool, shape: Vec<Value> as Extent }
                = "alloc zeroed{zeroed} [{shape}]", Alloc, only Host "alloc", check alloc(shape);

            /// The function's shared or local array.
            Array(id: ArrayId)
                = "array {id}", Pure, check array(id);

            /// The module's constant array.
            ConstArray(id: ConstId)
                = "const_array {id}", Pure, check const_array(id);

            /// Reads, changes and writes one element as one step; gives the old element.
            Atomic { op: AtomicOp, view: Value as View, indices: Vec<Index> as Index, value: Value, expected: Option<Value> }
                = "atomic {op} {view}[{indices}], {value} expected {expected}", Atomic, check atomic(op, view, indices, value, expected);

            Geometry(geometry: Geometry) -> I64
                = "{geometry}", Pure, only Threads "thread geometry";

            /// The lanes of a warp that `mask` (`u32`, bit `n` for lane `n`) names meet here: none goes on before all have come, and what
            /// each did to memory before is seen by the others after. All of them must execute this operation with the same mask, which
            /// must name the executing lane; lanes that have ended, or that the block does not have, are not waited for and take no part.
            /// Threads need not all run through the code around it, but lanes of one mask have to. `lane` is an `i32`, for shuffles only. A
            /// shuffle from a lane that takes no part gives the own value on some devices, anything on others. Checked mode faults where a
            /// rule is broken.
            Warp { op: WarpOp, mask: Value as Mask, value: Value as Scalar, lane: Option<Value> as Lane }
                = "warp {op} {mask}, {value}, {lane}", Warp, only Threads "warp", check warp(op, value, lane);

            /// Lanes of the warp that execute this together with the own one, which is always among them. Which others are is up to the
            /// device where lanes went different ways before.
            ActiveMask -> U32 "a mask of lanes"
                = "active_mask", Lanes, only Threads "active_mask";

            /// A `Barrier` that combines a bool of every thread of the block that reaches it; all get the same result.
            BarrierReduce(op: BarrierOp, a: Value as Condition)
                = "barrier_reduce {op} {a}", Barrier, only Threads "barrier_reduce", check barrier_reduce(op);

            /// The block's dynamic shared memory as a C-contiguous view of rank 1 on as many whole elements as the launch's byte count
            /// holds. All of them, of whatever element type, start at the same address, which is aligned to 16 bytes.
            DynamicShared
                = "dynamic_shared", Pure, only Threads "dynamic shared memory", check dynamic_shared();

            /// In code that runs once and not in lanes: can elements of one view be stored in any order while those of the other at the
            /// same places are read? They can where the two lie in different memory, or are the very same view.
            Apart(a: Value as View, b: Value as View) -> Bool
                = "apart {a}, {b}", Pure;

            /// Work of a library of the host's, shared among threads if they are asked for: reads some stacks of matrices, and writes others,
            /// which nothing else refers to. Gives the number of an [`Outcome`](crate::Outcome): 0, or why nothing may be read from the
            /// results. Where there is no such library, as in the interpreter, it does nothing and says so.
            Routine { routine: Routine, threads: bool, operands: Vec<Value> as View } -> I64 "the outcome of a routine"
                = "routine {routine} threads{threads} ({operands})", Atomic, only Host "routine", check routine(routine, threads, operands);

            /// Memory that belongs to the thread of the host that executes this, as a view of all of it: it outlives the call, and is there, with
            /// random bits in it, when it is first asked for. In the interpreter it holds zeros unless the host lends its own.
            ThreadState(state: ThreadState)
                = "thread_state {state}", Atomic, only Host "thread_state", check thread_state(state);

            /// A function of float64 as the C library of the host computes it, for results that are to have its bits.
            Libm { function: Libm, args: Vec<Value> as Scalar } -> F64 "the result of a function"
                = "libm {function}({args})", Pure, only Host "libm", check libm(function, args);

            /// In functions that are called: is there too little stack left to call this one once more? One that calls itself asks at its start.
            OutOfStack -> Bool
                = "out_of_stack", Pure, check out_of_stack();
        }
    };
}

pub(crate) use operations;
