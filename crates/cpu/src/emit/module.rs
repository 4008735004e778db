//! The module being written: functions in the order they are needed, declarations, constants, helper functions, the tables of sites.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Write;

use weft_ir::{Block, ConstId, FuncId, Function, Module, Op, Span, Spread, StmtKind};
use weft_passes::numbering::Numbering;
use weft_passes::uniformity::Calls;

use weft_runtime::mailbox::{ErrorSite, PrintSite};

use super::target::{Emitted, Target};
use super::writer::{Elem, Ty};

pub struct ModuleCx<'m> {
    pub module: &'m Module,
    /// By function: the numbers of its statements.
    pub numberings: &'m [Numbering<'m>],
    pub target: &'m Target,
    pub error_sites: Vec<ErrorSite>,
    pub print_sites: Vec<PrintSite>,
    /// Calls of Weft's library that may fail.
    pub call_sites: Vec<Span>,
    pub gang_bytes: u64,
    declares: BTreeSet<String>,
    symbols: BTreeSet<&'static str>,
    constants: BTreeSet<u32>,
    /// Finished functions.
    text: String,
    helpers: BTreeSet<String>,
    loops: HashMap<u32, String>,
    /// Host functions that others call.
    hosts: HashMap<u32, String>,
    /// By function: it allocates memory that outlives its loops, itself or in a function it calls.
    allocating: Vec<bool>,
    /// Functions that others refer to and that are still to be written.
    pub wanted: VecDeque<Wanted>,
    /// Functions that may give lanes different results for the same arguments.
    pub calls: Calls,
    pub calls_rare: bool,
    /// A function calls itself.
    pub recursive: bool,
    /// Loops that LLVM is told whether to unroll, each with a metadata node of its own.
    marked_loops: Vec<Unroll>,
}

/// A function that another one refers to, and its symbol.
pub enum Wanted {
    Host(FuncId, String),
    Loop(FuncId, String, Spread),
    /// For so many lanes at once.
    Rare(FuncId, String, u32),
}

/// What LLVM is told of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unroll {
    Whole,
    Never,
}

/// The metadata nodes before those of the loops: branch weights, then what each [`Unroll`] says.
const FIRST_LOOP_NODE: usize = 3;

/// Which functions allocate: to a fixed point, since they may call each other in circles.
fn allocating(module: &Module) -> Vec<bool> {
    let mut found = vec![false; module.functions.len()];
    loop {
        let before = found.clone();
        for (i, function) in module.functions.iter().enumerate() {
            function.body.walk(&mut |kind| {
                found[i] |= match kind {
                    StmtKind::Let(_, Op::Alloc { .. }) => true,
                    StmtKind::Let(_, Op::Call(callee, _)) => before[callee.index()],
                    _ => false,
                };
            });
        }
        if found == before {
            return found;
        }
    }
}

/// A name that is legal everywhere and says which function it is.
pub fn symbol(function: &Function, id: FuncId) -> String {
    let name: String = function
        .name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    format!("weft.{name}.{}", id.0)
}

impl<'m> ModuleCx<'m> {
    pub fn new(module: &'m Module, numberings: &'m [Numbering<'m>], target: &'m Target) -> ModuleCx<'m> {
        ModuleCx {
            module,
            numberings,
            target,
            error_sites: Vec::new(),
            print_sites: Vec::new(),
            call_sites: Vec::new(),
            gang_bytes: 0,
            declares: BTreeSet::new(),
            symbols: BTreeSet::new(),
            constants: BTreeSet::new(),
            text: String::new(),
            helpers: BTreeSet::new(),
            loops: HashMap::new(),
            hosts: HashMap::new(),
            allocating: allocating(module),
            calls: Calls::of(module),
            calls_rare: false,
            recursive: false,
            marked_loops: Vec::new(),
            wanted: VecDeque::new(),
        }
    }

    pub fn declare(&mut self, text: String) {
        self.declares.insert(text);
    }

    /// A symbol the loader has to find.
    pub fn symbol(&mut self, name: &'static str) {
        self.symbols.insert(name);
    }

    pub fn constant(&mut self, id: ConstId) {
        self.constants.insert(id.0);
    }

    pub fn push_function(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The symbol of a `Loop` function, written when it is first launched: as lanes, or as code for point after point.
    pub fn loop_symbol(&mut self, id: FuncId, spread: Spread) -> String {
        if let Some(name) = self.loops.get(&id.0) {
            return name.clone();
        }
        let name = symbol(self.module.function(id), id);
        self.loops.insert(id.0, name.clone());
        self.wanted.push_back(Wanted::Loop(id, name.clone(), spread));
        name
    }

    /// The symbol of a function that another one calls as the host calls the entry, written when it is first called.
    pub fn host_symbol(&mut self, id: FuncId) -> String {
        if let Some(name) = self.hosts.get(&id.0) {
            return name.clone();
        }
        let name = format!("{}.called", symbol(self.module.function(id), id));
        self.hosts.insert(id.0, name.clone());
        self.wanted.push_back(Wanted::Host(id, name.clone()));
        name
    }

    /// Does the block allocate, itself, in loops inside or in functions it calls?
    pub fn allocates(&self, block: &Block) -> bool {
        block.any(&mut |kind| match kind {
            StmtKind::Let(_, Op::Alloc { .. }) => true,
            StmtKind::Let(_, Op::Call(callee, _)) => self.allocating[callee.index()],
            _ => false,
        })
    }

    /// Does the block hold a loop that allocates?
    pub fn allocates_in_loop(&self, block: &Block) -> bool {
        block.any(&mut |kind| match kind {
            StmtKind::Loop(body) | StmtKind::For { body, .. } => self.allocates(body),
            _ => false,
        })
    }

    /// The symbol of a rare function for so many lanes at once, written when it is first called.
    pub fn rare_symbol(&mut self, id: FuncId, lanes: u32) -> String {
        let name = format!("{}.{lanes}", symbol(self.module.function(id), id));
        if self.helper(&name) {
            self.wanted.push_back(Wanted::Rare(id, name.clone(), lanes));
        }
        name
    }

    /// The metadata node of a loop.
    pub fn marked_loop(&mut self, unroll: Unroll) -> usize {
        self.marked_loops.push(unroll);
        self.marked_loops.len() - 1 + FIRST_LOOP_NODE
    }

    /// Is a helper function still to be written?
    pub fn helper(&mut self, name: &str) -> bool {
        self.helpers.insert(name.to_owned())
    }

    /// A function that raises integers to integer powers.
    pub fn pow_function(&mut self, ty: Ty, signed_base: bool, signed_exponent: bool) -> String {
        let sign = |s: bool| if s { "s" } else { "u" };
        let name = format!("weft.pow.{}.{}{}", ty.suffix(), sign(signed_base), sign(signed_exponent));
        if self.helper(&name) {
            let text = pow_text(&name, ty, signed_base, signed_exponent);
            self.push_function(&text);
            if ty.lanes > 0 {
                let bits = ty.with(Elem::I1);
                self.declare(format!("declare i1 @llvm.vector.reduce.or.{}({bits})", bits.suffix()));
            }
        }
        name
    }

    pub fn finish(self, entry: String) -> Emitted {
        let mut text = String::with_capacity(self.text.len() + 1024);
        if let Some(triple) = &self.target.triple {
            let _ = writeln!(text, "target triple = \"{triple}\"\n");
        }
        for id in &self.constants {
            let array = &self.module.constants[*id as usize];
            let _ = write!(text, "@c{id} = internal unnamed_addr constant [{} x i8] c\"", array.bytes.len());
            for byte in &array.bytes {
                let _ = write!(text, "\\{byte:02X}");
            }
            text.push_str("\", align 64\n");
        }
        text.push_str(&self.text);
        for declare in &self.declares {
            text.push_str(declare);
            text.push('\n');
        }
        let bits = self.target.vector_bits;
        let _ = writeln!(
            text,
            "attributes #0 = {{ nounwind \"target-cpu\"=\"{}\" \"target-features\"=\"{}\" \"min-legal-vector-width\"=\"{bits}\" \"prefer-vector-width\"=\"{bits}\" }}",
            self.target.cpu, self.target.features
        );
        if self.calls_rare {
            text.push_str("attributes #1 = { cold nounwind memory(argmem: readwrite) }\n");
        }
        text.push_str("!0 = !{!\"branch_weights\", i32 1, i32 2000}\n");
        if !self.marked_loops.is_empty() {
            text.push_str("!1 = !{!\"llvm.loop.unroll.full\"}\n!2 = !{!\"llvm.loop.unroll.disable\"}\n");
        }
        for (id, unroll) in (FIRST_LOOP_NODE..).zip(&self.marked_loops) {
            let says = match unroll {
                Unroll::Whole => 1,
                Unroll::Never => 2,
            };
            let _ = writeln!(text, "!{id} = distinct !{{!{id}, !{says}}}");
        }
        Emitted {
            text,
            entry,
            error_sites: self.error_sites,
            print_sites: self.print_sites,
            call_sites: self.call_sites,
            symbols: self.symbols.into_iter().collect(),
            recursive: self.recursive,
            gang_bytes: self.gang_bytes,
        }
    }
}

/// Squares and multiplies while an exponent has bits left; negative exponents give 0, but for the bases 1 and -1.
fn pow_text(name: &str, ty: Ty, signed_base: bool, signed_exponent: bool) -> String {
    let (e, b) = (ty.with(Elem::I64), ty.with(Elem::I1));
    let splat = |v: i64, t: Ty| super::writer::Operand::Int(v).of(t);
    let (one, zero) = (splat(1, ty), splat(0, ty));
    let (one_e, zero_e) = (splat(1, e), splat(0, e));
    let any = match ty.lanes {
        0 => format!("%more = icmp ne {e} %e, {zero_e}"),
        _ => format!(
            "%on = icmp ne {e} %e, {zero_e}\n  %more = call i1 @llvm.vector.reduce.or.{}({b} %on)",
            b.suffix()
        ),
    };
    let minus = if signed_base {
        format!(
            "%isminus = icmp eq {ty} %x, {}\n  %alternating = select {b} %isodd, {ty} {}, {ty} {one}\n  %tiny = select {b} %isminus, {ty} %alternating, {ty} {zero}",
            splat(-1, ty),
            splat(-1, ty)
        )
    } else {
        format!("%tiny = select {b} %isodd, {ty} {zero}, {ty} {zero}")
    };
    let end = if signed_exponent {
        format!(
            "%negative = icmp slt {e} %n, {zero_e}\n  %bit = and {e} %n, {one_e}\n  %isodd = icmp ne {e} %bit, {zero_e}\n  {minus}\n  \
             %isone = icmp eq {ty} %x, {one}\n  %small = select {b} %isone, {ty} {one}, {ty} %tiny\n  \
             %result = select {b} %negative, {ty} %small, {ty} %r\n  store {ty} %result, ptr %to\n  ret void"
        )
    } else {
        format!("store {ty} %r, ptr %to\n  ret void")
    };
    // Inlined where it is a few scalar instructions.
    let inline = if ty.lanes == 0 { "alwaysinline " } else { "" };
    format!(
        "define internal void @{name}(ptr %base, ptr %power, ptr %to) {inline}#0 {{\nentry:\n  %x = load {ty}, ptr %base\n  %n = load {e}, ptr %power\n  br label %head\nhead:\n  \
         %r = phi {ty} [ {one}, %entry ], [ %rnext, %body ]\n  %s = phi {ty} [ %x, %entry ], [ %snext, %body ]\n  \
         %e = phi {e} [ %n, %entry ], [ %enext, %body ]\n  {any}\n  br i1 %more, label %body, label %end\nbody:\n  \
         %low = and {e} %e, {one_e}\n  %odd = icmp ne {e} %low, {zero_e}\n  %times = mul {ty} %r, %s\n  \
         %rnext = select {b} %odd, {ty} %times, {ty} %r\n  %snext = mul {ty} %s, %s\n  %enext = lshr {e} %e, {one_e}\n  \
         br label %head\nend:\n  {end}\n}}\n"
    )
}
