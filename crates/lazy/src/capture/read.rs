//! Graphs from text. Nothing of it is believed: every line is checked against the values before it, as those are that functions record.

use std::sync::Arc;

use smallvec::SmallVec;
use weft_ir::Scalar;

use super::loaded::could_be;
use super::{Call, Given, Graph, Of, Place, Source, Step};
use crate::array::{Array, Lying, Storage};
use crate::dims::{self, Axis, AxisMap, Dims, Strides};
use crate::error::{Error, Result};
use crate::machine;
use crate::memory::Piece;
use crate::operation::{self, Operation};
use crate::record;
use crate::value::{Fold, FoldKind, Kind, Node, Progression, Region, Value};

/// A call by its name.
pub type Calls<'a> = &'a dyn Fn(&str) -> Option<Arc<dyn Call>>;

/// What is wrong with a line.
type Checked<T> = std::result::Result<T, String>;

impl Graph {
    /// The graph of a text, whose first line is the file's line of this number. ValueError with the number of the line that is wrong.
    pub fn of_text(text: &str, first: usize, calls: Calls<'_>) -> Result<Graph> {
        let mut reader = Reader::new(calls);
        for (at, line) in text.lines().enumerate() {
            reader
                .line(line)
                .map_err(|what| Error::Value(format!("line {}: {what}", first + at)))?;
        }
        reader.graph.settle();
        Ok(reader.graph)
    }
}

/// In which order lines come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Arguments,
    Values,
    Writes,
    Storages,
    Results,
}

struct Reader<'a> {
    graph: Graph,
    calls: Calls<'a>,
    part: Part,
    /// What stands for the values so far, and what they are of the graph.
    values: Vec<(Value, Place)>,
    made: usize,
    /// What new storages, and what those of arguments, hold in the end.
    new: Vec<Value>,
}

impl<'a> Reader<'a> {
    fn new(calls: Calls<'a>) -> Self {
        Reader {
            graph: Graph::empty(),
            calls,
            part: Part::Arguments,
            values: Vec::new(),
            made: 0,
            new: Vec::new(),
        }
    }

    fn line(&mut self, line: &str) -> Checked<()> {
        let mut words = Words(line.split(' '));
        match words.next()? {
            "write" => {
                self.enter(Part::Writes)?;
                self.write(&mut words)?;
            }
            "storage" => {
                self.enter(Part::Storages)?;
                self.storage(&mut words)?;
            }
            "result" => {
                self.enter(Part::Results)?;
                self.result(&mut words)?;
            }
            name if name.starts_with('%') => self.value(name, &mut words)?,
            other => return Err(format!("no line begins with {other:?}")),
        }
        words.end()
    }

    fn enter(&mut self, part: Part) -> Checked<()> {
        if part < self.part {
            return Err("this line has to come before the last one".into());
        }
        self.part = part;
        Ok(())
    }

    /// `%name type = what`, or several names of a call's results.
    fn value(&mut self, first: &str, words: &mut Words<'_>) -> Checked<()> {
        let mut types = Vec::new();
        let mut name = first;
        loop {
            if name != format!("%{}", self.values.len() + types.len()) {
                return Err(format!("the next value is %{}, not {name}", self.values.len() + types.len()));
            }
            types.push(typed(words.next()?)?);
            name = match words.next()? {
                "=" => break,
                another => another,
            };
        }
        let what = words.next()?;
        if what == "argument" {
            self.enter(Part::Arguments)?;
        } else {
            self.enter(Part::Values)?;
        }
        if what == "call" {
            return self.call(types, words);
        }
        let [typed] = types.as_slice() else {
            return Err(format!("only calls have several results, not {what}"));
        };
        match what {
            "argument" => self.argument(typed, words),
            "fill" => {
                let bits = bits(words.next()?, typed.elem)?;
                self.constant(Node::pending_on(typed.device, typed.elem, typed.shape.clone(), Kind::Fill(bits)))
            }
            "iota" => self.iota(typed, words),
            "data" => self.data(typed, words),
            _ => {
                let (kind, operands) = self.kind(what, typed, words)?;
                self.node(typed, kind, operands)
            }
        }
    }

    fn argument(&mut self, typed: &Typed, words: &mut Words<'_>) -> Checked<()> {
        let at: usize = number(words.next()?)?;
        if at != self.graph.leaves.len() {
            return Err(format!("the next argument is {}, not {at}", self.graph.leaves.len()));
        }
        let like = typed.stand_in();
        self.values.push((like.clone(), Place::Leaf(at)));
        self.graph.leaves.push(Source::Argument(at));
        self.graph.likes.push(like);
        Ok(())
    }

    fn constant(&mut self, node: Value) -> Checked<()> {
        self.values.push((node.clone(), Place::Constant(self.graph.constants.len())));
        self.graph.constants.push(node);
        Ok(())
    }

    fn iota(&mut self, typed: &Typed, words: &mut Words<'_>) -> Checked<()> {
        if typed.shape.len() != 1 || typed.elem == Scalar::Bool {
            return Err("an iota is one row of numbers".into());
        }
        let (start, step) = (bits(words.next()?, typed.elem)?, bits(words.next()?, typed.elem)?);
        let kind = Kind::Iota(Box::new(Progression { start, step }));
        self.constant(Node::pending_on(typed.device, typed.elem, typed.shape.clone(), kind))
    }

    fn data(&mut self, typed: &Typed, words: &mut Words<'_>) -> Checked<()> {
        let bytes = unbase64(words.next()?).ok_or("this is no text of RFC 4648's base64")?;
        if dims::bytes(&typed.shape, typed.elem.size()) != Some(bytes.len() as u64) {
            return Err(format!("{} bytes are not those of the shape", bytes.len()));
        }
        if typed.elem == Scalar::Bool && bytes.iter().any(|&byte| byte > 1) {
            return Err("a bool is 0 or 1".into());
        }
        let piece = Piece::fresh(machine::CPU, &typed.shape, typed.elem).map_err(|e| e.to_string())?;
        piece.block.buffer().write(0, &bytes).map_err(|e| e.to_string())?;
        let here = Node::stored(typed.elem, typed.shape.clone(), piece);
        self.constant(match typed.device {
            machine::CPU => here,
            device => Node::pending_on(device, typed.elem, typed.shape.clone(), Kind::Moved(here)),
        })
    }

    fn operand(&self, word: &str) -> Checked<(Value, Place)> {
        let at: Option<usize> = word.strip_prefix('%').and_then(|at| number(at).ok());
        match at.and_then(|at| self.values.get(at)) {
            Some((value, place)) => Ok((value.clone(), *place)),
            None => Err(format!("{word} is no value before this line")),
        }
    }

    fn kind(&self, what: &str, typed: &Typed, words: &mut Words<'_>) -> Checked<(Kind, SmallVec<[Place; 3]>)> {
        match what {
            "view" => {
                let (of, place) = self.operand(words.next()?)?;
                typed.same_elem(&of)?;
                let map = map(words, &of.shape, &typed.shape)?;
                Ok((Kind::View { of, map: Box::new(map) }, SmallVec::from_elem(place, 1)))
            }
            "reshape" => {
                let (of, place) = self.operand(words.next()?)?;
                typed.same_elem(&of)?;
                if dims::size(&of.shape) != dims::size(&typed.shape) {
                    return Err("a reshape has as many elements as before".into());
                }
                Ok((Kind::Reshape(of), SmallVec::from_elem(place, 1)))
            }
            "strided" => {
                let (of, place) = self.operand(words.next()?)?;
                let (offset, strides) = region(words, &typed.shape, typed.elem, &of)?;
                let strides = Box::new(strides);
                Ok((Kind::Strided { of, offset, strides }, SmallVec::from_elem(place, 1)))
            }
            "update" => self.update(typed, words),
            "fold" => self.fold(typed, words),
            _ => {
                let operation = self.operation(what, words)?;
                let found: Vec<(Value, Place)> = (operation.operands.iter())
                    .map(|_| self.operand(words.next()?))
                    .collect::<Checked<_>>()?;
                self.map(typed, operation, found)
            }
        }
    }

    fn map(&self, typed: &Typed, operation: &'static Operation, found: Vec<(Value, Place)>) -> Checked<(Kind, SmallVec<[Place; 3]>)> {
        let fits = |((value, _), elem): (&(Value, Place), &Scalar)| value.elem == *elem;
        if operation.result != typed.elem || !found.iter().zip(&operation.operands).all(fits) {
            return Err("operands or result are of other types than the operation's".into());
        }
        let shapes: Vec<&[u64]> = found.iter().map(|(value, _)| value.shape.as_slice()).collect();
        if record::common_shape(&shapes).ok().as_ref() != Some(&typed.shape) {
            return Err("the operands' shapes do not broadcast to the result's".into());
        }
        let (args, places): (Vec<Value>, Vec<Place>) = found.into_iter().unzip();
        let args = args.into_iter().collect();
        Ok((Kind::Map { operation, args }, places.into_iter().collect()))
    }

    fn operation(&self, what: &str, words: &mut Words<'_>) -> Checked<&'static Operation> {
        let unknown = || format!("there is no operation {what:?}");
        let word = if what == "map" { words.next()? } else { what };
        let (name, types) = word.strip_suffix(')').and_then(|word| word.split_once('(')).ok_or_else(unknown)?;
        let types: Option<Vec<Scalar>> = types.split(',').map(Scalar::from_numpy_name).collect();
        let types = types.ok_or_else(|| format!("{word} names no types"))?;
        let (name, part) = match name.split_once('.') {
            Some((name, part)) => (name, Some(number::<u8>(part)?)),
            None => (name, None),
        };
        let found = match (what == "map", name, types.as_slice()) {
            (true, ..) => operation::named(name, part, &types),
            (false, "where", &[Scalar::Bool, a, b]) if a == b => Some(operation::select(a)),
            (false, "cast", &[_]) => {
                // Its result's type is the value's: `map` compares it.
                return self.cast(&types, words);
            }
            _ => None,
        };
        found.ok_or_else(|| format!("there is no operation {word}"))
    }

    fn cast(&self, types: &[Scalar], words: &mut Words<'_>) -> Checked<&'static Operation> {
        let to = words.next()?;
        let to = Scalar::from_numpy_name(to).ok_or_else(|| format!("{to:?} is no type"))?;
        if types[0] == to {
            return Err("a cast has another type".into());
        }
        Ok(operation::cast(types[0], to))
    }

    fn update(&self, typed: &Typed, words: &mut Words<'_>) -> Checked<(Kind, SmallVec<[Place; 3]>)> {
        let (base, first) = self.operand(words.next()?)?;
        let (value, second) = self.operand(words.next()?)?;
        typed.same_elem(&base)?;
        if base.shape != typed.shape {
            return Err("an update has the shape of what it is an update of".into());
        }
        let (offset, strides) = region(words, &value.shape, value.elem, &base)?;
        let region = Box::new(Region {
            shape: value.shape.clone(),
            offset,
            strides,
        });
        Ok((Kind::Update { base, region, value }, SmallVec::from_slice(&[first, second])))
    }

    fn fold(&self, typed: &Typed, words: &mut Words<'_>) -> Checked<(Kind, SmallVec<[Place; 3]>)> {
        let name = words.next()?;
        let (of, place) = self.operand(words.next()?)?;
        let mut axes = 0u64;
        while let Some(word) = words.more() {
            let axis: usize = number(word)?;
            if axis >= of.shape.len() || axes >> axis != 0 {
                return Err("axes are those of the operand, in their order".into());
            }
            axes |= 1 << axis;
        }
        let folded: Vec<usize> = (0..of.shape.len()).filter(|axis| axes & (1 << axis) != 0).collect();
        let what = match name {
            "argmax" => FoldKind::ArgMax,
            "argmin" => FoldKind::ArgMin,
            _ => FoldKind::Ufunc(
                operation::ufunc_name(name).ok_or_else(|| format!("there is no ufunc {name:?}"))?,
                typed.elem,
            ),
        };
        if matches!(what, FoldKind::ArgMax | FoldKind::ArgMin) && folded.len() != 1 {
            return Err(format!("{name} is along one axis"));
        }
        // What would be recorded is checked as what a function records; it is to be just this.
        let recorded = record::fold(what, &of, &folded).map_err(|e| e.to_string())?;
        let fold = Fold { what, axes };
        let is_it = match recorded.kind() {
            Some(Kind::Fold { fold: known, of: elements }) => known == fold && Arc::ptr_eq(&elements, &of),
            _ => false,
        };
        if !is_it || recorded.elem != typed.elem || recorded.shape != typed.shape {
            return Err(format!("{name} of this value gives another type or shape"));
        }
        Ok((Kind::Fold { fold, of }, SmallVec::from_elem(place, 1)))
    }

    /// A node, on the device that it is said to be on.
    fn node(&mut self, typed: &Typed, kind: Kind, operands: SmallVec<[Place; 3]>) -> Checked<()> {
        let elsewhere = |value: &Value| value.device != typed.device && !(value.shape.is_empty() && matches!(kind, Kind::Map { .. }));
        if kind.operands().any(elsewhere) {
            return Err("an operand is on another device".into());
        }
        self.values.push((typed.stand_in(), Place::Made(self.made)));
        self.made += 1;
        self.graph.steps.push(Step::Node {
            device: typed.device,
            elem: typed.elem,
            shape: typed.shape.clone(),
            kind,
            operands,
        });
        Ok(())
    }

    fn call(&mut self, types: Vec<Typed>, words: &mut Words<'_>) -> Checked<()> {
        let name = words.next()?;
        let call = (self.calls)(name).ok_or_else(|| format!("nothing is called {name:?}"))?;
        let (mut operands, mut places) = (Vec::new(), SmallVec::new());
        while let Some(word) = words.more() {
            let (value, place) = self.operand(word)?;
            operands.push(value);
            places.push(place);
        }
        let gives = call.gives(&operands).map_err(|e| e.to_string())?;
        let results: Vec<Given> = (types.iter())
            .map(|typed| (typed.elem, typed.shape.clone(), typed.device))
            .collect();
        let is_given = |((elem, shape), given): (&(Scalar, Dims), &Given)| (elem, shape, machine::CPU) == (&given.0, &given.1, given.2);
        if gives.len() != results.len() || !gives.iter().zip(&results).all(is_given) {
            return Err(format!("{name} of these values gives other types or shapes"));
        }
        for typed in &types {
            self.values.push((typed.stand_in(), Place::Made(self.made)));
            self.made += 1;
        }
        self.graph.steps.push(Step::Call {
            call,
            operands: places,
            results,
        });
        Ok(())
    }

    fn write(&mut self, words: &mut Words<'_>) -> Checked<()> {
        let at: usize = number(words.next()?)?;
        let (value, place) = self.operand(words.next()?)?;
        let Some(like) = self.graph.likes.get(at) else {
            return Err(format!("there is no argument {at}"));
        };
        if self.graph.written.last().is_some_and(|(last, _)| *last >= at) {
            return Err("arguments are written once, in their order".into());
        }
        if like.elem != value.elem || like.shape != value.shape || like.device != value.device {
            return Err("what is written has another type, shape or device than the argument".into());
        }
        self.graph.written.push((at, place));
        Ok(())
    }

    fn storage(&mut self, words: &mut Words<'_>) -> Checked<()> {
        let elem = words.next()?;
        let elem = Scalar::from_numpy_name(elem).ok_or_else(|| format!("{elem:?} is no type"))?;
        let (value, place) = self.operand(words.next()?)?;
        if elem != value.elem {
            return Err("a storage is of the type of what it holds".into());
        }
        self.graph.new.push((Storage::made_as(elem, value.clone()), place));
        self.new.push(value);
        Ok(())
    }

    fn result(&mut self, words: &mut Words<'_>) -> Checked<()> {
        let typed = typed(words.next()?)?;
        words.is("of")?;
        let kind = words.next()?;
        let at: usize = number(words.next()?)?;
        let (of, value) = match kind {
            "storage" => (Of::New(at), self.new.get(at)),
            "argument" => (Of::Leaf(at), self.graph.likes.get(at)),
            other => return Err(format!("results are of a storage or an argument, not of {other:?}")),
        };
        let value = value.ok_or_else(|| format!("there is no {kind} {at}"))?.clone();
        let mut flags = [false; 2];
        let mut lying = Lying::Whole;
        while let Some(word) = words.more() {
            match word {
                "read-only" if flags == [false; 2] => flags[0] = true,
                "own" if !flags[1] => flags[1] = true,
                "axes" => {
                    typed.same_elem(&value)?;
                    let base = shape(words.next()?)?;
                    if dims::size(&base) != dims::size(&value.shape) {
                        return Err("the axes are those of another number of elements".into());
                    }
                    let map = map(words, &base, &typed.shape)?;
                    lying = Lying::Axes(base, map);
                }
                "strided" => {
                    let (offset, strides) = region(words, &typed.shape, typed.elem, &value)?;
                    lying = Lying::Strided(offset, strides);
                }
                other => return Err(format!("{other:?} says nothing of a result")),
            }
        }
        if matches!(lying, Lying::Whole) {
            typed.same_elem(&value)?;
            if dims::size(&typed.shape) != dims::size(&value.shape) {
                return Err("the result has another number of elements than its storage".into());
            }
        }
        let storage = match &of {
            Of::New(at) => self.graph.new[*at].0.clone(),
            _ => Storage::made_as(value.elem, value),
        };
        let mut array = Array::lies(storage, typed.elem, typed.shape, lying);
        [array.read_only, array.own] = flags;
        self.graph.results.push((array, of));
        Ok(())
    }
}

/// `type[lengths]@device`
struct Typed {
    elem: Scalar,
    shape: Dims,
    device: u8,
}

impl Typed {
    fn stand_in(&self) -> Value {
        Node::pending_on(self.device, self.elem, self.shape.clone(), Kind::StandIn)
    }

    fn same_elem(&self, of: &Value) -> Checked<()> {
        match self.elem == of.elem {
            true => Ok(()),
            false => Err(format!("a value of {} is none of {}", of.elem.numpy_name(), self.elem.numpy_name())),
        }
    }
}

fn typed(word: &str) -> Checked<Typed> {
    let (rest, device) = match word.split_once('@') {
        Some((rest, name)) => (rest, machine::named(name).filter(|&device| device != machine::CPU)),
        None => (word, Some(machine::CPU)),
    };
    let device = device.ok_or_else(|| format!("there is no device as in {word}"))?;
    let (elem, lengths) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
    let elem = Scalar::from_numpy_name(elem).ok_or_else(|| format!("{word:?} begins with no type"))?;
    let shape = shape(lengths)?;
    if !could_be(&shape, elem) {
        return Err(format!("there is no array as large as {word}"));
    }
    machine::check_elem(device, elem).map_err(|e| e.to_string())?;
    Ok(Typed { elem, shape, device })
}

fn shape(word: &str) -> Checked<Dims> {
    let wrong = || format!("{word:?} is no shape");
    let lengths = word.strip_prefix('[').and_then(|word| word.strip_suffix(']')).ok_or_else(wrong)?;
    if lengths.is_empty() {
        return Ok(Dims::new());
    }
    let lengths: Dims = lengths.split(',').map(number).collect::<Checked<_>>()?;
    match lengths.len() <= record::MOST_AXES && could_be(&lengths, Scalar::U8) {
        true => Ok(lengths),
        false => Err(wrong()),
    }
}

/// A number as it is written: no sign, no zeros in front.
fn number<T: std::str::FromStr + ToString>(word: &str) -> Checked<T> {
    let found = word.parse::<T>().ok().filter(|number| number.to_string() == word);
    found.ok_or_else(|| format!("{word:?} is no number here"))
}

/// Memory's bits of a number of a type.
fn bits(word: &str, elem: Scalar) -> Checked<[u64; 2]> {
    let wrong = || format!("{word:?} are no bits of {}", elem.numpy_name());
    let one = |word: &str| {
        let digits = word.strip_prefix("0x")?;
        let value = u64::from_str_radix(digits, 16).ok()?;
        (format!("{value:x}") == digits).then_some(value)
    };
    let found = match word.split_once(':') {
        Some((first, second)) => [one(first), one(second).filter(|&second| second != 0)],
        None => [one(word), Some(0)],
    };
    let [Some(first), Some(second)] = found else { return Err(wrong()) };
    let fits = match elem.size() {
        16 => true,
        8 => second == 0,
        size => second == 0 && first >> (8 * size) == 0,
    };
    let is_bool = elem != Scalar::Bool || first <= 1;
    // Integers stand in whole words, with their signs.
    let is_signed = elem.is_signed() && second == 0 && extended(first, elem.size()) == first;
    match (fits || is_signed) && is_bool {
        true => Ok([first, second]),
        false => Err(wrong()),
    }
}

fn extended(bits: u64, size: usize) -> u64 {
    let shift = 64 - 8 * size.min(8) as u32;
    (((bits << shift) as i64) >> shift) as u64
}

/// A map of the axes of what is read, all of whose elements are there.
fn map(words: &mut Words<'_>, of: &[u64], to: &[u64]) -> Checked<AxisMap> {
    let mut map = AxisMap::new();
    for &length in of {
        let word = words.next()?;
        let parts: Vec<&str> = word.split(':').collect();
        let axis = match parts.as_slice() {
            [start] => Axis {
                start: number(start)?,
                step: 0,
                along: None,
            },
            [start, step, along] => Axis {
                start: number(start)?,
                step: number(step)?,
                along: Some(number(along)?),
            },
            _ => return Err(format!("{word:?} is no axis")),
        };
        let count = match axis.along {
            None => 1,
            Some(along) => *to.get(usize::from(along)).ok_or("an axis moves along one that is not there")?,
        };
        let last = i128::from(axis.start) + i128::from(axis.step) * i128::from(count.max(1) - 1);
        let (start, length) = (i128::from(axis.start), i128::from(length));
        let inside = (0..length).contains(&start) && (0..length).contains(&last);
        let nothing = to.contains(&0) && (0..=length).contains(&start);
        let is_plain = count > 1 || axis.along.is_none() || axis.step == 1;
        if !(is_plain && (inside || nothing && axis.step.unsigned_abs() <= 1 << 48)) {
            return Err(format!("{word:?} leaves an axis of {length} elements"));
        }
        map.push(axis);
    }
    Ok(map)
}

/// Places in a value's bytes: an offset and strides for a shape.
fn region(words: &mut Words<'_>, shape: &[u64], elem: Scalar, of: &Value) -> Checked<(i64, Strides)> {
    let offset: i64 = number(words.next()?)?;
    let strides: Strides = shape.iter().map(|_| number(words.next()?)).collect::<Checked<_>>()?;
    let bytes = dims::bytes(&of.shape, of.elem.size()).unwrap_or(0);
    let is_plain = shape.iter().zip(&strides).all(|(&n, &stride)| n > 1 || stride == 0);
    let near = strides.iter().chain([&offset]).all(|far| far.unsigned_abs() <= 1 << 48);
    match is_plain && near && dims::lie_within(offset, shape, &strides, elem.size(), bytes) {
        true => Ok((offset, strides)),
        false => Err("these places are not all inside of the value's memory".into()),
    }
}

/// The bytes of a text of base64, which is the only one for them; of a dash none.
fn unbase64(text: &str) -> Option<Vec<u8>> {
    if text == "-" {
        return Some(Vec::new());
    }
    let text = text.as_bytes();
    if text.is_empty() || !text.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for (at, four) in text.chunks(4).enumerate() {
        let padding = four.iter().rev().take_while(|&&digit| digit == b'=').count();
        let is_last = (at + 1) * 4 == text.len();
        if padding > 2 || padding > 0 && !is_last {
            return None;
        }
        let mut word = 0u32;
        for &digit in &four[..4 - padding] {
            word = word << 6 | value_of(digit)?;
        }
        word <<= 6 * padding;
        if word & ((1 << (8 * padding)) - 1) != 0 {
            return None;
        }
        bytes.extend_from_slice(&word.to_be_bytes()[1..4 - padding]);
    }
    Some(bytes)
}

fn value_of(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

/// The words of a line, one space between two.
struct Words<'a>(std::str::Split<'a, char>);

impl<'a> Words<'a> {
    fn more(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    fn next(&mut self) -> Checked<&'a str> {
        match self.more() {
            Some("") | None => Err("the line ends too soon, or two spaces follow each other".into()),
            Some(word) => Ok(word),
        }
    }

    fn is(&mut self, word: &str) -> Checked<()> {
        match self.next()? {
            found if found == word => Ok(()),
            found => Err(format!("{found:?} stands where {word:?} has to")),
        }
    }

    fn end(&mut self) -> Checked<()> {
        match self.more() {
            None => Ok(()),
            Some(word) => Err(format!("{word:?} is too much")),
        }
    }
}
