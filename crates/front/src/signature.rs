//! Overload resolution among explicit signatures: which one a call takes, and the types it then compiles for.

use weft_ir::{Kind, Layout, Scalar, ViewType};

use crate::ArgType;

/// `float64(float64[:], int64)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    pub args: Vec<ArgType>,
    pub result: Option<ArgType>,
}

impl Signature {
    /// Whether arguments of these types may be passed, and at what cost: 0 is an exact match.
    pub fn cost(&self, given: &[ArgType]) -> Option<u32> {
        if self.args.len() != given.len() {
            return None;
        }
        self.args
            .iter()
            .zip(given)
            .try_fold(0u32, |sum, (want, have)| Some(sum.saturating_add(cost(want, have)?)))
    }

    /// The types to compile for: those declared, but read-only where the argument is.
    pub fn adapted(&self, given: &[ArgType]) -> Vec<ArgType> {
        self.args.iter().zip(given).map(|(want, have)| adapt(want, have)).collect()
    }
}

/// The signature that fits arguments of these types best.
pub fn best<'a>(signatures: &'a [Signature], given: &[ArgType]) -> Option<&'a Signature> {
    let fitting = signatures.iter().filter_map(|s| Some((s.cost(given)?, s)));
    fitting.min_by_key(|(cost, _)| *cost).map(|(_, signature)| signature)
}

/// Whether a result comes as the type declared for it: numbers are converted, all else must be of it.
pub fn gives(declared: &ArgType, result: &ArgType) -> bool {
    match (declared, result) {
        (ArgType::Strong(want), ArgType::Weak(have) | ArgType::Strong(have)) => scalar_cost(*want, *have).is_some(),
        (ArgType::Tuple(want), ArgType::Tuple(have)) => {
            want.len() == have.len() && want.class() == have.class() && want.iter().zip(have).all(|(w, h)| is_of(w, h))
        }
        _ => is_of(declared, result),
    }
}

/// Whether a value is of a type without any conversion.
fn is_of(want: &ArgType, have: &ArgType) -> bool {
    match (want, have) {
        (ArgType::Strong(want), ArgType::Weak(have) | ArgType::Strong(have)) => want == have,
        (ArgType::Tuple(_), ArgType::Tuple(_)) => gives(want, have),
        (ArgType::Array(_), ArgType::Array(_)) => cost(want, have) == Some(0),
        _ => want == have,
    }
}

fn cost(want: &ArgType, have: &ArgType) -> Option<u32> {
    match (want, have) {
        (ArgType::Strong(want), ArgType::Weak(have) | ArgType::Strong(have)) => scalar_cost(*want, *have),
        (ArgType::Array(want), ArgType::Array(have)) => {
            let layout = want.layout == Layout::Any || want.layout == have.layout || (have.rank <= 1 && have.layout == Layout::C);
            (want.elem == have.elem && want.rank == have.rank && layout).then_some(0)
        }
        (ArgType::Tuple(want), ArgType::Tuple(have)) if want.len() == have.len() => {
            // A named tuple is a plain one too, and no other named one.
            let class = match want.class() {
                None => u32::from(have.class().is_some()),
                Some(class) if have.class() == Some(class) => 0,
                Some(_) => return None,
            };
            let items = want.iter().zip(have).map(|(w, h)| cost(w, h)).sum::<Option<u32>>()?;
            Some(items + class)
        }
        (ArgType::None, ArgType::None) => Some(0),
        (ArgType::Object { .. }, _) if want == have => Some(0),
        _ => None,
    }
}

/// Widening costs less than narrowing, narrowing within a kind less than changing it; a complex number never becomes real.
fn scalar_cost(want: Scalar, have: Scalar) -> Option<u32> {
    if want == have {
        return Some(0);
    }
    if have.is_complex() && !want.is_complex() {
        return None;
    }
    Some(if is_safe(have, want) {
        1
    } else if have.kind() == want.kind() {
        100
    } else {
        10_000
    })
}

/// NumPy's `can_cast(from, to, 'safe')`.
pub fn is_safe(from: Scalar, to: Scalar) -> bool {
    let (f, t) = (from.size(), to.size());
    match (from.kind(), to.kind()) {
        (Kind::Bool, _) => true,
        _ if from == to => true,
        (_, _) if to.is_half() => to.size() > from.size() && !from.is_float() && !from.is_complex(),
        (Kind::Unsigned, Kind::Unsigned) | (Kind::Signed, Kind::Signed) | (Kind::Float, Kind::Float) | (Kind::Complex, Kind::Complex) => {
            f <= t
        }
        (Kind::Unsigned, Kind::Signed) => f < t,
        (Kind::Unsigned | Kind::Signed, Kind::Float) => f < t || (f == 8 && t == 8),
        (Kind::Unsigned | Kind::Signed, Kind::Complex) => f < t / 2 || (f == 8 && t == 16),
        (Kind::Float, Kind::Complex) => f <= t / 2,
        _ => false,
    }
}

/// NumPy's `can_cast(from, to, 'same_kind')`.
pub fn casts_within_kind(from: Scalar, to: Scalar) -> bool {
    let rank = |scalar: Scalar| match scalar.kind() {
        Kind::Bool => 0,
        Kind::Unsigned => 1,
        Kind::Signed => 2,
        Kind::Float => 3,
        Kind::Complex => 4,
    };
    rank(from) <= rank(to)
}

/// An array stays where it is, and read-only if it was.
fn adapt(want: &ArgType, have: &ArgType) -> ArgType {
    match (want, have) {
        (ArgType::Array(want), ArgType::Array(have)) => ArgType::Array(ViewType {
            writable: want.writable && have.writable,
            space: have.space,
            ..*want
        }),
        (ArgType::Tuple(want), ArgType::Tuple(have)) => {
            ArgType::Tuple(want.with(want.iter().zip(have).map(|(w, h)| adapt(w, h)).collect()))
        }
        _ => want.clone(),
    }
}

/// A list of types as people read them: `(float64[:, :], int)`.
pub fn show(types: &[ArgType]) -> String {
    let items: Vec<String> = types.iter().map(show_one).collect();
    format!("({})", items.join(", "))
}

pub fn show_one(ty: &ArgType) -> String {
    match ty {
        ArgType::Weak(Scalar::Bool) => "bool".into(),
        ArgType::Weak(s) if s.is_int() => "int".into(),
        ArgType::Weak(s) if s.is_float() => "float".into(),
        ArgType::Weak(_) => "complex".into(),
        ArgType::Strong(s) => s.numpy_name().into(),
        ArgType::Tuple(items) => format!("{}{}", items.class().map_or("", |class| &class.name), show(items)),
        ArgType::Object { shown, .. } => shown.clone(),
        ArgType::None => "None".into(),
        ArgType::Array(v) => show_array(v),
    }
}

fn show_array(view: &ViewType) -> String {
    let mut axes = vec![":"; view.rank as usize];
    match (view.layout, axes.len()) {
        (_, 0) => return format!("{} array of rank 0", view.elem.numpy_name()),
        (Layout::C, rank) => axes[rank - 1] = "::1",
        (Layout::F, _) => axes[0] = "::1",
        _ => {}
    }
    let mode = if view.writable { "" } else { " read-only" };
    format!("{}[{}]{mode}", view.elem.numpy_name(), axes.join(", "))
}
