//! The table of statements.
//!
//! Fields `as Defined` are values that the statement defines, for its blocks or for what follows it.

macro_rules! statements {
    ($with:ident) => {
        $with! {
            #[derive(Clone, Debug, PartialEq, Eq)]
            StmtKind:

            /// Has the effect of its operation.
            Let(value: Value as Defined, op: Op as Inner)
                = "{value} = {op}", Pure, check definition(value, op);

            Set(local: Local, value: Value)
                = "set {local} = {value}", Set, check set(local, value);

            If { cond: Value as Condition, then: Block, other: Block }
                = "if {cond}{then} else{other}", Flow, check branch(then, other);

            /// Runs its body until a `Break`; `Continue` starts it anew.
            Loop(body: Block)
                = "loop{body}", Flow, check endless(body);

            /// Python's `for var in range(start, stop, step)`: all `i64`, evaluated once, `step` not zero.
            For { var: Value as Defined, start: Value as Bound, stop: Value as Bound, step: Value as Bound, body: Block }
                = "for {var} = {start} to {stop} step {step}{body}", Flow, check counted(var, body);

            /// Every point of the index space `extents`, in no order; the body's locals are private to a point but for `reductions`,
            /// into which each point's contribution is combined. Inside of a loop's point or of a kernel's thread it is that one's own.
            ParFor { vars: Vec<Value> as Defined, extents: Vec<Value> as Extent, reductions: Vec<Reduction>, spread: Spread, body: Block }
                = "parfor ({vars}) in ({extents}){reductions}{spread}{body}", Call, check points(vars, extents, reductions, spread, body);

            /// What `outline` makes of `ParFor`: runs the `Loop` function `func` over `extents` with `args` after its indices, then
            /// combines its reductions into `results`, in order.
            Launch { func: FuncId, extents: Vec<Value> as Extent, args: Vec<Value>, results: Vec<Local>, spread: Spread }
                = "launch {func} over ({extents}) with ({args}){results}{spread}", Call, only Host "launch",
                    check launch(func, extents, args, results, spread);

            /// A block that `Leave` ends. Made by the `inline` pass.
            Scope(label: Label, body: Block)
                = "scope {label}{body}", Flow, check scope(label, body);

            Leave(label: Label)
                = "leave {label}", Flow, check leave(label);

            Break
                = "break", Flow, check breaks();

            Continue
                = "continue", Flow, check continues();

            Return(value: Option<Value>)
                = "return {value}", Flow, check returns(value);

            Store { view: Value as View, indices: Vec<Index> as Index, part: Part, value: Value }
                = "store {view}[{indices}]{part} = {value}", Store, check store(view, indices, part, value);

            /// All threads of the block arrive before any goes on.
            Barrier
                = "barrier", Barrier, only Threads "barrier";

            /// All threads of all blocks arrive before any goes on, and what each did to memory before is seen by all after. Only in a
            /// launch whose blocks can all run at once.
            GridBarrier
                = "grid_barrier", Grid, only Threads "grid_barrier";

            /// The lanes of the warp that the mask (`u32`) names arrive before any goes on; the rules of [`Op::Warp`].
            SyncWarp(mask: Value as Mask)
                = "sync_warp {mask}", Warp, only Threads "sync_warp";

            /// All lanes of a warp come here together, with the same views, and add a product of matrices to `sums`, their own: an array of
            /// float32 of shape `(p, q, 4)`, in local memory. The product is that of `16 p` rows of `left` and `8 q` columns of `right`
            /// along [`mma::depth`](crate::mma::depth) places of the inner axis, from the views' start on; views in shared memory, whose last
            /// axis lies together and which hold the transposes where it says so. Which sums a lane has says [`mma::place`](crate::mma::place).
            /// Elements are of type `elem`, a 16-bit float or float32, which is rounded to 11 bits first; a view may hold them in words of
            /// 64 bits, several in each. Products are exact; how they are added, in float32, is up to the device.
            Mma { elem: Scalar, sums: Value as View, left: Value as View, right: Value as View, left_transposed: bool, right_transposed: bool }
                = "mma {elem} {sums}, {left}, {right} left_transposed{left_transposed} right_transposed{right_transposed}",
                    Warp, only Threads "mma", check mma(elem, sums, left, right, left_transposed, right_transposed);

            /// What this thread did to memory before is seen, by the threads in the scope, before what it does after.
            Fence(scope: FenceScope)
                = "fence {scope}", Fence, only Threads "fence";

            /// Pauses the thread for about as many nanoseconds (`u32`), or not at all.
            Sleep(nanoseconds: Value as Time)
                = "sleep {nanoseconds}", Output, only Threads "sleep";

            /// Ends the call with an exception, or the thread with a recorded error.
            Raise { kind: ErrorKind, message: String }
                = "raise {kind} {message}", Flow;

            /// Prints one line: its items one after the other, with nothing between them, and a newline.
            Print(items: Vec<PrintItem>)
                = "print{items}", Output, check print(items);
        }
    };
}

pub(crate) use statements;
