//! Argument types as short rows of numbers: what a call is matched by before anything is compiled or hashed.

use smallvec::SmallVec;
use weft_front::{ArgType, Items};
use weft_ir::{Layout, Scalar, Space, ViewType};

use crate::{named, objects};

/// One type is one code, but for a tuple, whose code is followed by those of its items; a named tuple's has the number of its
/// class. An object that is a constant to the code, such as a function, is a type of its own.
pub type Key = SmallVec<[u32; 12]>;

const WEAK: u32 = 1 << 28;
const STRONG: u32 = 2 << 28;
const NONE: u32 = 3 << 28;
const TUPLE: u32 = 4 << 28;
const ARRAY: u32 = 5 << 28;
const NAMED: u32 = 6 << 28;
const OBJECT: u32 = 7 << 28;
const DEFAULT: u32 = 8 << 28;
const TAG: u32 = 15 << 28;

pub const fn weak(scalar: Scalar) -> u32 {
    WEAK | scalar as u32
}

pub const fn strong(scalar: Scalar) -> u32 {
    STRONG | scalar as u32
}

pub const fn none() -> u32 {
    NONE
}

pub const fn tuple(len: usize) -> u32 {
    TUPLE | len as u32
}

pub const fn named(class: u32) -> u32 {
    NAMED | class
}

pub const fn object(number: u32) -> u32 {
    OBJECT | number
}

pub const fn default(number: u32) -> u32 {
    DEFAULT | number
}

pub const fn array(elem: Scalar, rank: usize, layout: Layout, writable: bool) -> u32 {
    ARRAY | elem as u32 | (rank as u32) << 8 | (layout as u32) << 16 | (writable as u32) << 20
}

/// The types a key stands for.
pub fn decode(mut key: &[u32]) -> Vec<ArgType> {
    let mut types = Vec::new();
    while !key.is_empty() {
        types.push(decode_one(&mut key));
    }
    types
}

fn decode_one(key: &mut &[u32]) -> ArgType {
    let Some((&code, rest)) = key.split_first() else {
        return ArgType::None;
    };
    *key = rest;
    let scalar = Scalar::ALL[(code & 0xff) as usize % Scalar::ALL.len()];
    match code & TAG {
        WEAK => ArgType::Weak(scalar),
        STRONG => ArgType::Strong(scalar),
        TUPLE => ArgType::Tuple((0..code & !TAG).map(|_| decode_one(key)).collect()),
        OBJECT => objects::argument(code & !TAG).unwrap_or(ArgType::None),
        DEFAULT => objects::default_argument(code & !TAG).unwrap_or(ArgType::None),
        NAMED => match named::described(code & !TAG) {
            Some(class) => {
                let items = class.fields.iter().map(|_| decode_one(key)).collect();
                ArgType::Tuple(Items::of(Some(class), items))
            }
            None => ArgType::None,
        },
        ARRAY => ArgType::Array(ViewType {
            elem: scalar,
            rank: (code >> 8) as u8,
            layout: [Layout::C, Layout::F, Layout::Row, Layout::Any][(code >> 16 & 3) as usize],
            space: Space::Global,
            writable: code >> 20 & 1 == 1,
        }),
        _ => ArgType::None,
    }
}

/// Appends the codes of a type.
pub fn encode(ty: &ArgType, key: &mut Key) {
    match ty {
        ArgType::Weak(s) => key.push(weak(*s)),
        ArgType::Strong(s) => key.push(strong(*s)),
        ArgType::None => key.push(none()),
        ArgType::Object { key: object, .. } => key.push(match objects::find_default(*object) {
            Some(number) => default(number),
            None => objects::find(*object).map_or(none(), self::object),
        }),
        ArgType::Array(v) => key.push(array(v.elem, v.rank as usize, v.layout, v.writable)),
        ArgType::Tuple(items) => {
            let class = items.class().and_then(|class| named::find(class));
            key.push(class.map_or(tuple(items.len()), named));
            items.iter().for_each(|item| encode(item, key));
        }
    }
}

/// Slots that an argument of this type takes.
pub fn slots(ty: &ArgType) -> usize {
    match ty {
        ArgType::Weak(s) | ArgType::Strong(s) => 1 + usize::from(s.is_complex()),
        ArgType::None | ArgType::Object { .. } => 0,
        ArgType::Array(v) => 1 + 2 * v.rank as usize,
        ArgType::Tuple(items) => items.iter().map(slots).sum(),
    }
}
