//! Instructions as they are executed, and the kernels made of them.

use super::lanes::{Lanewise, Slot};
use crate::ptx::syntax::{Bounds, Space};

/// A predicate register of the frame, perhaps negated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pred {
    /// `None`: always true.
    pub register: Option<u32>,
    pub negated: bool,
}

impl Pred {
    pub const TRUE: Pred = Pred {
        register: None,
        negated: false,
    };

    /// The lanes for which it holds.
    #[inline(always)]
    pub fn mask(self, preds: &[u32]) -> u32 {
        let value = self.register.map_or(u32::MAX, |r| preds[r as usize]);
        if self.negated { !value } else { value }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Inst {
    pub op: Op,
    pub guard: Pred,
    pub line: u32,
}

/// How bits come from memory into a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    pub bytes: u8,
    pub signed: bool,
    /// Bytes of the register a signed value is extended to.
    pub register: u8,
}

/// An address: a register (or a constant) plus an offset.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub base: Slot,
    pub offset: i64,
    pub space: Space,
    /// In a register of 32 bits, as shared and local addresses may be: sums wrap at 2^32.
    pub narrow: bool,
}

impl Address {
    /// Where it leads for a value of its register.
    #[inline(always)]
    pub fn of(self, base: u64) -> u64 {
        let sum = base.wrapping_add_signed(self.offset);
        if self.narrow { u64::from(sum as u32) } else { sum }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub address: Address,
    pub width: Width,
    pub count: u8,
    pub values: [Slot; 4],
    /// Volatile, relaxed, acquire or release: not part of a race with others of its kind.
    pub strong: bool,
    /// Orders what the thread does around it.
    pub fence: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    None,
    And,
    Or,
    Xor,
}

pub type Test = fn(&super::lanes::Rows<'_>, Slot, Slot, u32) -> u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    Cas,
    Min,
    Max,
    Inc,
    Dec,
}

/// What the bits of an atomic operand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicType {
    Bits,
    Signed,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
}

#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    pub address: Address,
    pub op: AtomicOp,
    pub ty: AtomicType,
    pub bytes: u8,
    pub to: Option<Slot>,
    pub value: Slot,
    pub swap: Slot,
    pub fence: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    None,
    Popc,
    And,
    Or,
}

#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    pub id: Slot,
    /// How many threads take part; none: all of the block.
    pub count: Option<Slot>,
    pub aligned: bool,
    pub arrive: bool,
    pub reduction: Reduction,
    pub value: Pred,
    pub to: Slot,
    pub to_pred: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    All,
    Any,
    Uni,
    Ballot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redux {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// What lanes of a warp do together, once all lanes of the member mask have come.
#[derive(Clone, Copy, Debug)]
pub enum Together {
    Barrier,
    Shuffle {
        kind: Shuffle,
        to: Slot,
        found: Option<u32>,
        value: Slot,
        by: Slot,
        clamp: Slot,
    },
    Vote {
        kind: Vote,
        to: Slot,
        to_pred: u32,
        value: Pred,
    },
    MatchAny {
        to: Slot,
        value: Slot,
    },
    MatchAll {
        to: Slot,
        found: Option<u32>,
        value: Slot,
    },
    Redux {
        kind: Redux,
        signed: bool,
        to: Slot,
        value: Slot,
    },
}

/// What `mma` multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    F16,
    BF16,
    /// float32, of which the tensor cores see 19 bits.
    TF32,
}

/// What all lanes of a warp do with matrices that lie across their registers.
#[derive(Clone, Copy, Debug)]
pub enum Tensor {
    /// `ldmatrix`: squares of 8 by 8 numbers of 16 bits from shared memory.
    Load {
        address: Address,
        count: u8,
        transposed: bool,
        to: [Slot; 4],
    },
    /// `mma`: of 16 by 8 sums in float32.
    Multiply {
        factors: Factors,
        to: [Slot; 4],
        left: [Slot; 4],
        right: [Slot; 2],
        sums: [Slot; 4],
    },
}

/// Which sum or difference with the carry flag.
#[derive(Clone, Copy, Debug)]
pub struct Carry {
    pub to: Slot,
    pub a: Slot,
    pub b: Slot,
    /// `mad`: what is added to the product.
    pub c: Option<Slot>,
    pub high: bool,
    pub signed: bool,
    pub wide: bool,
    pub subtract: bool,
    pub uses: bool,
    pub sets: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredOp {
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    Clock32,
    ClockHigh,
    Clock64,
    Timer,
    /// The high and the low half of the address of what the driver gives a cooperative launch for the grid's barrier: its size, and a
    /// word of zero. NVIDIA's cooperative groups find it in `%envreg1` and `%envreg2`.
    WorkspaceHigh,
    WorkspaceLow,
    /// Where the shared memory begins that the system keeps for itself, which cooperative groups keep their barriers in.
    ReservedShared,
}

#[derive(Clone, Copy, Debug)]
pub enum Op {
    Lanes(Lanewise),
    Compare {
        test: Test,
        a: Slot,
        b: Slot,
        to: Option<u32>,
        /// The register of the opposite result.
        opposite: Option<u32>,
        combine: Combine,
        with: Pred,
    },
    /// `set`: all ones (or 1.0) where the comparison holds.
    SetValue {
        test: Test,
        a: Slot,
        b: Slot,
        to: Slot,
        one: u64,
        combine: Combine,
        with: Pred,
    },
    Preds {
        op: PredOp,
        to: u32,
        a: Pred,
        b: Pred,
    },
    Select {
        to: Slot,
        a: Slot,
        b: Slot,
        by: Pred,
    },
    Carry(Carry),
    /// Puts four pieces of a register together, lowest first.
    Pack {
        to: Slot,
        from: [Slot; 4],
        count: u8,
        bits: u8,
    },
    Unpack {
        to: [Slot; 4],
        from: Slot,
        count: u8,
        bits: u8,
    },
    Special {
        to: Slot,
        what: Special,
    },
    /// An address within the lane's frame.
    FrameAddress {
        to: Slot,
        offset: u32,
        generic: bool,
    },
    /// A kernel parameter, the same for all.
    LoadParam {
        offset: u32,
        width: Width,
        count: u8,
        to: [Slot; 4],
    },
    LoadFrame {
        offset: u32,
        width: Width,
        count: u8,
        to: [Slot; 4],
    },
    StoreFrame {
        offset: u32,
        width: Width,
        count: u8,
        from: [Slot; 4],
    },
    Load(Access),
    Store(Access),
    Atomic(Atomic),
    /// `isspacep`
    InSpace {
        space: Space,
        to: u32,
        address: Slot,
    },
    Fence,
    Nothing,
    Branch {
        target: u32,
    },
    BranchTable {
        table: u32,
        index: Slot,
    },
    Call {
        site: u32,
    },
    Return,
    Exit,
    Trap,
    Barrier(Barrier),
    /// `class` is the same for instructions that may meet.
    Together {
        what: Together,
        members: Slot,
        class: u32,
    },
    /// By its number in the program. `members` are all lanes, `class` is its own: nothing else may be met there.
    Tensor {
        what: u32,
        members: Slot,
        class: u32,
    },
    ActiveMask {
        to: Slot,
    },
}

/// A call: who is called, and which bytes of the frames are copied.
#[derive(Clone, Debug)]
pub struct CallSite {
    pub callee: Callee,
    /// Offsets in the caller's frame, in the order of the callee's parameters.
    pub arguments: Vec<(u32, u32)>,
    pub results: Vec<(u32, u32)>,
}

#[derive(Clone, Debug)]
pub enum Callee {
    Function(u32),
    Indirect(Slot),
    Printf,
    /// `__assertfail`, which ends the launch.
    AssertFail,
}

/// A function's code is a part of the module's.
#[derive(Clone, Debug)]
pub struct FunctionCode {
    pub name: String,
    pub entry: bool,
    pub start: u32,
    pub registers: u32,
    pub preds: u32,
    /// Bytes of a frame in local memory that the code may access.
    pub frame: u32,
    /// Bytes behind them that it may not: of where it returns to, and of its caller's registers.
    pub saved: u32,
    /// Where parameters and results lie in a frame: offset and size.
    pub params: Vec<(u32, u32)>,
    pub results: Vec<(u32, u32)>,
    /// Size and offset of each kernel parameter, and of all.
    pub kernel_params: Vec<(u32, u32)>,
    pub param_bytes: u32,
    pub local_bytes: u32,
    /// Static shared memory.
    pub shared_bytes: u32,
    pub bounds: Bounds,
}

impl FunctionCode {
    /// Bytes of stack that a call takes.
    pub fn stack(&self) -> u32 {
        self.frame + self.saved
    }
}

/// A module ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    pub functions: Vec<FunctionCode>,
    pub code: Vec<Inst>,
    pub constants: Vec<u64>,
    pub tables: Vec<Vec<u32>>,
    pub sites: Vec<CallSite>,
    pub tensors: Vec<Tensor>,
    /// Where dynamic shared memory begins.
    pub dynamic_shared: u32,
    /// Bytes that accesses to shared memory never split: races are looked for in pieces of this size.
    pub shared_granule: u32,
    pub globals: Vec<GlobalVariable>,
    pub version: (u32, u32),
    /// Whether a kernel asks for the workspace of cooperative launches.
    pub workspace: bool,
    /// Bytes of shared memory behind all else for who asks for the system's.
    pub reserved_shared: u32,
    /// By function: nobody can say beforehand how much stack it takes, since calls may lead back to it or go by address.
    pub unbounded: Vec<bool>,
}

#[derive(Clone, Debug)]
pub struct GlobalVariable {
    pub name: String,
    pub address: u64,
    pub bytes: u64,
    pub constant: bool,
}

/// Rows every warp has besides its registers.
pub mod special {
    pub const TID: u32 = 0;
    pub const NTID: u32 = 3;
    pub const CTAID: u32 = 6;
    pub const NCTAID: u32 = 9;
    pub const LANEID: u32 = 12;
    pub const WARPID: u32 = 13;
    pub const NWARPID: u32 = 14;
    pub const MASK_EQ: u32 = 15;
    pub const MASK_LT: u32 = 16;
    pub const MASK_LE: u32 = 17;
    pub const MASK_GT: u32 = 18;
    pub const MASK_GE: u32 = 19;
    pub const DYNAMIC_SHARED: u32 = 20;
    pub const TOTAL_SHARED: u32 = 21;
    pub const GRIDID: u32 = 22;
    pub const SMID: u32 = 23;
    pub const NSMID: u32 = 24;
    /// Written by results nobody wants.
    pub const SINK: u32 = 25;
    pub const COUNT: u32 = 26;
}

/// Windows of the generic address space. None overlaps what the host or device memory has.
pub mod window {
    pub const SHARED: u64 = 0x0000_9000_0000_0000;
    pub const LOCAL: u64 = 0x0000_9800_0000_0000;
    pub const PARAM: u64 = 0x0000_a000_0000_0000;
    pub const FUNCTION: u64 = 0x0000_a800_0000_0000;
    pub const SIZE: u64 = 0x0000_0800_0000_0000;
    /// Device memory, from here up.
    pub const DEVICE: u64 = 0x0000_c000_0000_0000;
}
