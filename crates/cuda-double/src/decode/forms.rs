//! The forms that instructions have: modifiers and types in their order, from which generation and version of PTX on.
//!
//! What computes is found by the other parts of the decoder, which ask for modifiers in any order; here it is decided whether an assembler
//! would take the instruction at all. Every form here has been held against NVIDIA's `ptxas` (`tests/foreign/forms.py`).

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::ptx::PtxError;

/// A module's generation and version of PTX: 90 and 86 of `sm_90` and 8.6.
#[derive(Clone, Copy, Debug, Default)]
pub struct Level {
    pub sm: u32,
    pub ptx: u32,
}

/// One line for each form: opcodes, a colon, and for each place what may stand there; `?` after it where nothing may, too. At the end, if
/// not all have it, the generation and the version of PTX from which on.
///
/// Shorthands: `RND` is a rounding, `RNDI` one to an integer, `INT` any integer, `WORD` one of 16 bits or more, `CMP` an ordered and `CMPU` any comparison of floats, `BOOL` what a comparison is combined with, `ANY` what can be loaded and
/// stored, `VEC` how many of it (of 64 bits two at most); `CACHE`, `HINT` and `AHEAD` are about caches, `SEM` and `SCOPE` about the order of accesses.
const FORMS: &str = "
add sub: u16|s16|u32|s32|u64|s64
add sub: sat s32
add: u16x2|s16x2 @ 90 80
add sub mul: RND? ftz? sat? f32
add sub mul: RND? f64
add sub mul: rn? ftz? sat? f16|f16x2
add sub mul: rn? bf16|bf16x2 @ 90 78
add sub: RND? sat? f32 f16|bf16 @ 100 86
add sub mul: RND? ftz? f32x2 @ 100 86
add sub addc subc: cc u32|s32|u64|s64
addc subc: u32|s32|u64|s64
mul mad: lo|hi u16|s16|u32|s32|u64|s64
mul mad: wide u16|s16|u32|s32
mad: hi sat s32
mad: lo|hi cc u32|s32|u64|s64
madc: lo|hi cc? u32|s32|u64|s64
mad: RND ftz? sat? f32
mad: RND f64
mul24 mad24: lo|hi u32|s32
mad24: hi sat s32
sad: u16|s16|u32|s32|u64|s64
div rem: u16|s16|u32|s32|u64|s64
div: approx|full|RND ftz? f32
div: RND f64
fma: RND ftz? sat? f32
fma: RND f64
fma: rn ftz? sat? f16|f16x2
fma: rn ftz? relu f16|f16x2 @ 80 70
fma: rn relu? bf16|bf16x2 @ 80 70
fma: RND sat? f32 f16|bf16 @ 100 86
fma: RND ftz? f32x2 @ 100 86
sqrt rcp: approx|RND ftz? f32
sqrt rcp: RND f64
rcp rsqrt: approx ftz f64
rsqrt sin cos lg2 ex2: approx ftz? f32
rsqrt: approx f64
ex2: approx f16|f16x2 @ 75 70
ex2: approx ftz bf16|bf16x2 @ 90 78
tanh: approx f32|f16|f16x2 @ 75 70
tanh: approx bf16|bf16x2 @ 90 78
abs neg: s16|s32|s64|f64
abs neg: ftz? f32
neg: ftz? f16|f16x2
abs: ftz? f16|f16x2 @ 75 65
abs neg: bf16|bf16x2 @ 80 70
min max: u16|s16|u32|s32|u64|s64|f64
min max: u16x2|s16x2 @ 90 80
min max: relu s16x2|s32 @ 90 80
min max: s16x2|s32 relu @ 90 80
min max: ftz? f32
min max: ftz? NaN f32 @ 80 70
min max: ftz? NaN? xorsign abs f32 @ 86 72
min max: ftz? NaN? f16|f16x2 @ 80 70
min max: NaN? bf16|bf16x2 @ 80 70
min max: ftz? NaN? xorsign abs f16|f16x2 @ 86 72
min max: NaN? xorsign abs bf16|bf16x2 @ 86 72
copysign: f32|f64
testp: finite|infinite|number|notanumber|normal|subnormal f32|f64
and or xor not: pred|b16|b32|b64
cnot shl: b16|b32|b64
shr: b16|b32|b64|u16|s16|u32|s32|u64|s64
shf: l|r clamp|wrap b32
bfe: u32|s32|u64|s64
bfi: b32|b64
bfind: shiftamt? u32|s32|u64|s64
brev clz popc: b32|b64
prmt: b32 f4e|b4e|rc8|ecl|ecr|rc16?
lop3: b32
fns: b32
bmsk: clamp|wrap b32 @ 70 76
szext: clamp|wrap u32|s32 @ 70 76
dp4a: u32|s32 u32|s32
dp2a: lo|hi u32|s32 u32|s32
vadd2 vadd4 vsub2 vsub4 vavrg2 vavrg4 vabsdiff2 vabsdiff4 vmin2 vmin4 vmax2 vmax4: u32|s32 u32|s32 u32|s32 sat|add?
vset2 vset4: u32|s32 u32|s32 eq|ne|lt|le|gt|ge add?
setp: eq|ne BOOL? b16|b32|b64
setp: CMP BOOL? u16|s16|u32|s32|u64|s64
setp: lo|ls|hi|hs BOOL? u16|u32|u64
setp: CMPU BOOL? ftz? f32|f16|f16x2
setp: CMPU BOOL? f64
setp: CMPU BOOL? bf16|bf16x2 @ 90 78
set: eq|ne BOOL? u32|s32|f32 b16|b32|b64
set: CMP BOOL? u32|s32|f32 u16|s16|u32|s32|u64|s64
set: lo|ls|hi|hs BOOL? u32|s32|f32 u16|u32|u64
set: CMPU BOOL? ftz? u32|s32|f32 f32
set: CMPU BOOL? u32|s32|f32 f64
set: CMPU BOOL? ftz? u16|s16|u32|s32 f16 @ 53 65
set: CMPU BOOL? ftz? f16 f16
set: CMPU BOOL? ftz? f16x2 f16x2
set: CMPU BOOL? ftz? u32|s32 f16x2 @ 53 65
set: CMPU BOOL? u16|s16|u32|s32|bf16 bf16 @ 90 78
set: CMPU BOOL? u32|s32|bf16x2 bf16x2 @ 90 78
selp: b16|b32|b64|u16|s16|u32|s32|u64|s64|f32|f64
slct: b16|b32|b64|u16|s16|u32|s32|u64|s64|f32|f64 s32
slct: ftz? b16|b32|b64|u16|s16|u32|s32|u64|s64|f32|f64 f32
mov: pred|b16|b32|b64|u16|s16|u32|s32|u64|s64|f32|f64
shfl: sync up|down|bfly|idx b32
vote: sync all|any|uni pred
vote: sync ballot b32
match: sync? any|all sync? b32|b64 @ 70 60
redux: sync add|min|max u32|s32 @ 80 70
redux: sync and|or|xor b32 @ 80 70
activemask: b32 @ 30 62
mma: sync aligned m16n8k16 row col f32 f16 f16 f32 @ 80 70
mma: sync aligned m16n8k16 row col f32 bf16 bf16 f32 @ 80 70
mma: sync aligned m16n8k8 row col f32 tf32 tf32 f32 @ 80 70
ldmatrix: sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta? b16 @ 75 65
nanosleep: u32 @ 70 63
bar barrier: sync|arrive
bar barrier: red popc u32
bar barrier: red and|or pred
barrier: sync|arrive aligned
barrier: red popc aligned u32
barrier: red and|or aligned pred
bar barrier: cta sync|arrive @ 30 78
bar barrier: cta red popc u32 @ 30 78
bar barrier: cta red and|or pred @ 30 78
barrier: cta sync|arrive aligned @ 30 78
barrier: cta red popc aligned u32 @ 30 78
barrier: cta red and|or aligned pred @ 30 78
bar: warp sync
isspacep: global|shared|shared::cta|local|const
isspacep: param @ 70 77
cvta: to? global|shared|shared::cta|local|const u64
cvta: to? param u64 @ 70 77
membar: cta|gl|sys
fence: sc|acq_rel? cta|gpu|sys @ 70 60
fence: sc|acq_rel? cluster @ 90 78
fence: acquire|release cta|gpu|sys @ 70 86
fence: acquire|release cluster @ 90 86
cvt: sat? INT INT
cvt: RND ftz? sat? f32 INT
cvt: RND sat? f16|f64 INT
cvt: RND bf16 WORD @ 90 78
cvt: RNDI ftz? sat? INT f32
cvt: RNDI sat? INT f16|f64
cvt: RNDI WORD bf16 @ 90 78
cvt: RNDI? sat? f16 f16
cvt: RNDI? sat? f64 f64
cvt: RNDI? ftz? sat? f32 f32
cvt: RNDI? bf16 bf16 @ 90 78
cvt: RND ftz? sat? f32 f64
cvt: ftz? sat? f64 f32
cvt: ftz? sat? f32 f16
cvt: rna tf32 f32 @ 80 70
cvt: RND ftz? sat? f16 f32
cvt: rn|rz relu f16 f32 @ 80 70
cvt: rn|rz relu? satfinite f16 f32 @ 80 81
cvt: RND sat? f16 f64
cvt: sat? f64 f16
cvt: rn|rz relu? bf16 f32 @ 80 70
cvt: rn|rz relu? satfinite bf16 f32 @ 80 81
cvt: RND bf16 f16|f32|f64 @ 90 78
cvt: RND f16 bf16 @ 90 78
cvt: ftz? f32 bf16 @ 90 78
cvt: f64 bf16 @ 90 78
cvt: rn|rz relu? f16x2|bf16x2 f32 @ 80 70
cvt: rn|rz relu? satfinite f16x2|bf16x2 f32 @ 80 81
ld: weak? global|shared|shared::cta|local|const|param|param::entry|param::func? CACHE? VEC? ANY
ld: volatile global|shared|shared::cta? VEC? ANY
ld st: volatile local VEC? ANY @ 75 91
ld: weak? global nc? v4 b64|u64|s64|f64 @ 100 88
st: weak? global v4 b64|u64|s64|f64 @ 100 88
ld: relaxed|acquire cta|gpu|sys global|shared|shared::cta? HINT? VEC? ANY @ 70 60
ld: relaxed|acquire cluster global|shared|shared::cta? HINT? VEC? ANY @ 90 78
ld: mmio relaxed sys global? ANY @ 70 82
ld: weak? global ca|cg|cs? nc VEC? ANY
ld: weak? global ca|cg|cs? nc? HINT? AHEAD? VEC? ANY @ 75 74
ld: weak? global nc? v8 b32|u32|s32|f32 @ 100 88
st: weak? global|shared|shared::cta|local|param|param::func? wb|cg|cs|wt? VEC? ANY
st: volatile global|shared|shared::cta? VEC? ANY
st: relaxed|release cta|gpu|sys global|shared|shared::cta? HINT? VEC? ANY @ 70 60
st: relaxed|release cluster global|shared|shared::cta? HINT? VEC? ANY @ 90 78
st: mmio relaxed sys global? ANY @ 70 82
st: weak? global HINT? VEC? ANY @ 75 74
st: weak? global v8 b32|u32|s32|f32 @ 100 88
atom: SEM? SCOPE? global|shared|shared::cta? add u32|s32|u64|f32|f64
atom: SEM? SCOPE? global|shared|shared::cta? add noftz f16|f16x2 @ 70 63
atom: SEM? SCOPE? global|shared|shared::cta? add noftz bf16|bf16x2 @ 90 78
atom: SEM? SCOPE? global|shared|shared::cta? and|or|xor|exch|cas b32|b64
atom: SEM? SCOPE? global|shared|shared::cta? cas b16 @ 70 63
atom: SEM? SCOPE? global|shared|shared::cta? min|max u32|s32|u64|s64
atom: SEM? SCOPE? global|shared|shared::cta? inc|dec u32
red: relaxed|release? SCOPE? global|shared|shared::cta? add u32|s32|u64|f32|f64
red: relaxed|release? SCOPE? global|shared|shared::cta? add noftz f16|f16x2 @ 70 63
red: relaxed|release? SCOPE? global|shared|shared::cta? add noftz bf16|bf16x2 @ 90 78
red: relaxed|release? SCOPE? global|shared|shared::cta? and|or|xor b32|b64
red: relaxed|release? SCOPE? global|shared|shared::cta? min|max u32|s32|u64|s64
red: relaxed|release? SCOPE? global|shared|shared::cta? inc|dec u32
prefetch: global|local? L1|L2
prefetchu: L1
discard: global? L2 @ 80 74
applypriority: global? L2::evict_normal @ 80 74
cp: async ca|cg shared|shared::cta global @ 80 70
cp: async commit_group|wait_group|wait_all @ 80 70
ldu: global? v2|v4? u8|s8|u16|s16|u32|s32|u64|s64|b8|b16|b32|b64|f32|f64
trap exit brkpt pmevent:
ret: uni?
";

const SHORTHANDS: [(&str, &str); 14] = [
    ("ANY", "b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"),
    ("SMALL", "b8|b16|b32|u8|u16|u32|s8|s16|s32|f32"),
    ("CACHE", "ca|cg|cs|lu|cv"),
    (
        "HINT",
        "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate",
    ),
    ("AHEAD", "L2::64B|L2::128B|L2::256B"),
    ("SEM", "relaxed|acquire|release|acq_rel"),
    ("SCOPE", "cta|gpu|sys"),
    ("RND", "rn|rz|rm|rp"),
    ("RNDI", "rni|rzi|rmi|rpi"),
    ("INT", "u8|s8|u16|s16|u32|s32|u64|s64"),
    ("WORD", "u16|s16|u32|s32|u64|s64"),
    ("CMPU", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"),
    ("CMP", "eq|ne|lt|le|gt|ge"),
    ("BOOL", "and|or|xor"),
];

#[derive(Debug)]
struct Form {
    /// What may stand in each place, and whether it may be left out.
    places: Vec<(Vec<&'static str>, bool)>,
    from: Level,
}

/// What is expected at a place: choices, and whether there must be one.
fn place(text: &'static str) -> (Vec<&'static str>, bool) {
    let (text, optional) = text.strip_suffix('?').map_or((text, false), |rest| (rest, true));
    let meaning = |name: &'static str| SHORTHANDS.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
    (text.split('|').flat_map(|name| meaning(name).split('|')).collect(), optional)
}

/// Four values of 64 bits are more than 16 bytes, which most accesses have at most: a line with vectors is two.
fn spelled_out(line: &'static str) -> Vec<&'static str> {
    if !line.contains("VEC? ANY") {
        return vec![line];
    }
    // Made once for the process.
    ["v2? ANY", "v4 SMALL"]
        .map(|values| &*line.replace("VEC? ANY", values).leak())
        .to_vec()
}

fn forms() -> &'static HashMap<&'static str, Vec<Form>> {
    static FOUND: OnceLock<HashMap<&'static str, Vec<Form>>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found: HashMap<_, Vec<Form>> = HashMap::new();
        for (opcodes, rest) in FORMS.lines().flat_map(spelled_out).filter_map(|line| line.split_once(':')) {
            let (places, from) = rest.split_once('@').unwrap_or((rest, ""));
            let mut level = from.split_whitespace().map(|n| n.parse().unwrap_or(0));
            let (sm, ptx) = (level.next().unwrap_or(0), level.next().unwrap_or(0));
            for opcode in opcodes.split_whitespace() {
                found.entry(opcode).or_default().push(Form {
                    places: places.split_whitespace().map(place).collect(),
                    from: Level { sm, ptx },
                });
            }
        }
        found
    })
}

/// Modifiers of atomics in one order, for assemblers take them in any: what it orders, scope, space, operation, the rest as it stands.
fn ordered(parts: &mut [&str]) {
    parts.sort_by_key(|part| match *part {
        "relaxed" | "acquire" | "release" | "acq_rel" => 0,
        "cta" | "cluster" | "gpu" | "sys" => 1,
        "global" | "shared" | "shared::cta" => 2,
        _ => 3,
    });
}

fn fits(places: &[(Vec<&str>, bool)], parts: &[&str]) -> bool {
    let Some(((choices, optional), places)) = places.split_first() else {
        return parts.is_empty();
    };
    let taken = parts
        .split_first()
        .is_some_and(|(part, rest)| choices.contains(part) && fits(places, rest));
    taken || *optional && fits(places, parts)
}

/// Complains of an instruction in a form that it does not have, or not yet. Opcodes without a line here are for others to judge.
pub fn check(mnemonic: &str, line: u32, level: Level) -> Result<(), PtxError> {
    let mut parts: Vec<&str> = mnemonic.split('.').collect();
    let Some((opcode, parts)) = parts.split_first_mut() else {
        return Ok(());
    };
    if matches!(*opcode, "atom" | "red") {
        ordered(parts);
    }
    let qualified = Level { sm: 0, ptx: 78 };
    if parts.contains(&"shared::cta") && level.ptx < qualified.ptx {
        return Err(later(mnemonic, line, qualified));
    }
    let Some(forms) = forms().get(*opcode) else {
        return Ok(());
    };
    let fitting: Vec<Level> = forms
        .iter()
        .filter(|form| fits(&form.places, parts))
        .map(|form| form.from)
        .collect();
    let Some(from) = fitting.first() else {
        return Err(PtxError::new(line, format!("{mnemonic}: the instruction has no such form")));
    };
    if fitting.iter().any(|from| from.sm <= level.sm && from.ptx <= level.ptx) {
        return Ok(());
    }
    Err(later(mnemonic, line, *from))
}

/// What is there only from a generation and a version on.
pub fn later(what: &str, line: u32, from: Level) -> PtxError {
    let (major, minor) = (from.ptx / 10, from.ptx % 10);
    let message = format!("{what}: requires .target sm_{} or higher and PTX {major}.{minor} or later", from.sm);
    PtxError::new(line, message)
}
