//! Graphs as text: one line for each value, in an order in which each is made of those before it. `docs/graphs.md` says what lines mean.

use std::fmt::{Display, Write};

use weft_ir::Scalar;

use super::{Graph, Of, Place, Source, Step};
use crate::array::{Array, Lying};
use crate::dims::Axis;
use crate::error::{Error, Result};
use crate::machine;
use crate::operation::{self, Operation, What};
use crate::schedule;
use crate::value::{Fold, FoldKind, Kind, Node, Value};

/// What cannot be written.
fn refused(what: impl Into<String>) -> Error {
    Error::Value(format!("{}, which a graph's file cannot hold", what.into()))
}

impl Graph {
    /// The lines of its text. Arrays that the function knew by global names are written with the elements that they have now.
    pub fn text(&self) -> Result<String> {
        let mut lines = Lines::default();
        for (leaf, like) in self.leaves.iter().zip(&self.likes) {
            let name = match leaf {
                Source::Argument(at) => lines.value(like.elem, like.device, &like.shape, format_args!("argument {at}")),
                Source::Fixed(storage) => lines.constant(&storage.now())?,
            };
            lines.leaves.push(name);
        }
        for constant in &self.constants {
            let name = lines.constant(constant)?;
            lines.constants.push(name);
        }
        for step in &self.steps {
            lines.step(step)?;
        }
        for (leaf, place) in &self.written {
            let Source::Argument(at) = &self.leaves[*leaf] else {
                return Err(refused("the function writes to an array that it knows by a global name"));
            };
            let name = lines.at(*place);
            lines.put(format_args!("write {at} %{name}"));
        }
        for (storage, place) in &self.new {
            let name = lines.at(*place);
            let elem = storage.elem().numpy_name();
            lines.put(format_args!("storage {elem} %{name}"));
        }
        for (array, of) in &self.results {
            lines.result(array, of, &self.leaves)?;
        }
        Ok(lines.text)
    }
}

#[derive(Default)]
struct Lines {
    text: String,
    /// Values that were named.
    count: usize,
    leaves: Vec<usize>,
    constants: Vec<usize>,
    made: Vec<usize>,
}

impl Lines {
    fn put(&mut self, line: impl Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{line}");
    }

    /// The line of a value, and its name.
    fn value(&mut self, elem: Scalar, device: u8, shape: &[u64], what: impl Display) -> usize {
        let name = self.count;
        self.count += 1;
        self.put(format_args!("%{name} {} = {what}", Type(elem, shape, device)));
        name
    }

    fn at(&self, place: Place) -> usize {
        match place {
            Place::Leaf(at) => self.leaves[at],
            Place::Constant(at) => self.constants[at],
            Place::Made(at) => self.made[at],
        }
    }

    /// A value that is made of no argument: a number or an iota as such, all else by its elements.
    fn constant(&mut self, value: &Value) -> Result<usize> {
        let node = |lines: &mut Lines, what: String| lines.value(value.elem, value.device, &value.shape, what);
        match value.kind() {
            Some(Kind::Fill(bits)) => Ok(node(self, format!("fill {}", Bits(bits)))),
            Some(Kind::Iota(numbers)) => Ok(node(self, format!("iota {} {}", Bits(numbers.start), Bits(numbers.step)))),
            _ => {
                let elements = elements(value)?;
                Ok(node(self, format!("data {}", base64(&elements))))
            }
        }
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Node {
                device,
                elem,
                shape,
                kind,
                operands,
            } => {
                let names: Vec<usize> = operands.iter().map(|place| self.at(*place)).collect();
                let what = node(kind, *elem, shape, &names)?;
                let name = self.value(*elem, *device, shape, what);
                self.made.push(name);
            }
            Step::Call { call, operands, results } => {
                let Some(named) = call.text() else {
                    return Err(refused(
                        "the function calls what has no name in graphs (random numbers, a function of yours, code of another library)",
                    ));
                };
                let operands: Vec<usize> = operands.iter().map(|place| self.at(*place)).collect();
                let first = self.count;
                self.count += results.len();
                let mut line = String::new();
                for (at, (elem, shape, device)) in results.iter().enumerate() {
                    let _ = write!(line, "%{} {} ", first + at, Type(*elem, shape, *device));
                    self.made.push(first + at);
                }
                self.put(format_args!("{line}= call {named}{}", Names(&operands)));
            }
        }
        Ok(())
    }

    fn result(&mut self, array: &Array, of: &Of, leaves: &[Source]) -> Result<()> {
        let storage = match of {
            Of::New(at) => format!("storage {at}"),
            Of::Leaf(leaf) => match &leaves[*leaf] {
                Source::Argument(at) => format!("argument {at}"),
                Source::Fixed(_) => return Err(refused("the function returns an array that it knows by a global name")),
            },
            Of::Fixed(_) => return Err(refused("the function returns an array that it knows by a global name")),
        };
        let mut line = format!("result {} of {storage}", Type(array.elem, &array.shape, machine::CPU));
        for (flag, word) in [(array.read_only, " read-only"), (array.own, " own")] {
            line.push_str(if flag { word } else { "" });
        }
        match array.lying() {
            Lying::Whole => {}
            Lying::Axes(base, map) => {
                let _ = write!(line, " axes {}{}", Shape(&base), Map(&map, &array.shape));
            }
            Lying::Strided(offset, strides) => {
                let _ = write!(line, " strided {offset}{}", Steps(&array.shape, &strides));
            }
        }
        self.put(line);
        Ok(())
    }
}

/// What a node is, with the names of its operands.
fn node(kind: &Kind, elem: Scalar, shape: &[u64], names: &[usize]) -> Result<String> {
    let name = |at: usize| names.get(at).copied().unwrap_or_default();
    Ok(match kind {
        Kind::Map { operation, .. } => format!("{}{}", operation_name(operation)?, Names(names)),
        Kind::View { map, .. } => format!("view %{}{}", name(0), Map(map, shape)),
        Kind::Reshape(_) => format!("reshape %{}", name(0)),
        Kind::Strided { offset, strides, .. } => format!("strided %{} {offset}{}", name(0), Steps(shape, strides)),
        Kind::Update { region, .. } => format!(
            "update %{} %{} {}{}",
            name(0),
            name(1),
            region.offset,
            Steps(&region.shape, &region.strides)
        ),
        Kind::Fold { fold, .. } => format!("fold {} %{}{}", fold_name(fold, elem)?, name(0), Axes(fold.axes)),
        Kind::Moved(_) => return Err(refused("the function copies elements from device to device")),
        Kind::Fill(_) | Kind::Iota(_) | Kind::Unfinished(_) | Kind::StandIn => {
            return Err(Error::Internal("a step of a graph is made of nothing".into()));
        }
    })
}

fn operation_name(operation: &Operation) -> Result<String> {
    if let What::Ufunc { name, part } = operation.what
        && operation::named(name, part, &operation.operands).is_none_or(|found| found.number != operation.number)
    {
        return Err(refused(format!(
            "the function applies a loop of {name} that its operands do not tell"
        )));
    }
    let types: Vec<&str> = operation.operands.iter().map(|elem| elem.numpy_name()).collect();
    let types = types.join(",");
    Ok(match operation.what {
        What::Ufunc { name, part: None } => format!("map {name}({types})"),
        What::Ufunc { name, part: Some(part) } => format!("map {name}.{part}({types})"),
        What::Cast => format!("cast({types}) {}", operation.result.numpy_name()),
        What::Select => format!("where({types})"),
        What::Function(_) => return Err(refused("the function applies a vectorized function of yours")),
    })
}

fn fold_name(fold: &Fold, elem: Scalar) -> Result<&'static str> {
    match fold.what {
        FoldKind::Ufunc(name, compute) if compute == elem => Ok(name),
        FoldKind::Ufunc(..) => Err(Error::Internal("a fold gives another type than it is computed in".into())),
        FoldKind::ArgMax => Ok("argmax"),
        FoldKind::ArgMin => Ok("argmin"),
    }
}

/// The bytes of a value's elements, one behind the other.
fn elements(value: &Value) -> Result<Vec<u8>> {
    let there = match value.device {
        machine::CPU => value.clone(),
        _ => Node::pending_on(machine::CPU, value.elem, value.shape.clone(), Kind::Moved(value.clone())),
    };
    schedule::compute(std::slice::from_ref(&there))?;
    let piece = there.piece().ok_or_else(|| Error::Internal("a value was not computed".into()))?;
    let mut bytes = vec![0; crate::memory::needed(&there.shape, there.elem)? as usize];
    piece.block.buffer().read(piece.offset as usize, &mut bytes)?;
    Ok(bytes)
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648's text of bytes; of none a dash.
fn base64(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".into();
    }
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            match digit <= three.len() {
                true => text.push(char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize])),
                false => text.push('='),
            }
        }
    }
    text
}

/// A type, a shape, and the device if it is not the CPU.
struct Type<'a>(Scalar, &'a [u64], u8);

impl Display for Type<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.0.numpy_name(), Shape(self.1))?;
        match self.2 {
            machine::CPU => Ok(()),
            device => write!(f, "@{}", machine::name(device)),
        }
    }
}

struct Shape<'a>(&'a [u64]);

impl Display for Shape<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lengths: Vec<String> = self.0.iter().map(u64::to_string).collect();
        write!(f, "[{}]", lengths.join(","))
    }
}

/// Memory's bits: one word, or two.
struct Bits([u64; 2]);

impl Display for Bits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            [first, 0] => write!(f, "0x{first:x}"),
            [first, second] => write!(f, "0x{first:x}:0x{second:x}"),
        }
    }
}

struct Names<'a>(&'a [usize]);

impl Display for Names<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|name| write!(f, " %{name}"))
    }
}

/// Axes of what is read: where each starts, and by how much it moves along which axis. Steps along axes of one element say nothing.
struct Map<'a>(&'a [Axis], &'a [u64]);

impl Display for Map<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|axis| match axis.along {
            None => write!(f, " {}", axis.start),
            Some(along) => {
                let is_long = self.1.get(usize::from(along)).is_some_and(|&n| n > 1);
                write!(f, " {}:{}:{along}", axis.start, if is_long { axis.step } else { 1 })
            }
        })
    }
}

/// Strides in bytes; those along axes of one element say nothing.
struct Steps<'a>(&'a [u64], &'a [i64]);

impl Display for Steps<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (self.0.iter().zip(self.1)).try_for_each(|(&n, &stride)| write!(f, " {}", if n > 1 { stride } else { 0 }))
    }
}

/// Axes that are folded.
struct Axes(u64);

impl Display for Axes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (0..u64::BITS)
            .filter(|axis| self.0 & (1 << axis) != 0)
            .try_for_each(|axis| write!(f, " {axis}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_the_standard_says() {
        for (bytes, text) in [("", "-"), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
