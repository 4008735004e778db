//! Signatures: the shapes of a routine's operands in named lengths, and what they are in a call.

use std::fmt;

use crate::element::Dtype;

/// The type of an operand's elements, seen from the routine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As the routine's.
    Same,
    /// The real type of the same width: singular values.
    Real,
    /// The complex one: eigenvalues.
    Complex,
}

impl Kind {
    pub const fn of(self, dtype: Dtype) -> Dtype {
        match self {
            Kind::Same => dtype,
            Kind::Real => dtype.real(),
            Kind::Complex => dtype.complex(),
        }
    }
}

/// An operand of a signature: a letter for the length of each axis. `l` is the smaller one of `m` and `n`.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub axes: &'static str,
    pub kind: Kind,
}

/// A call's lengths: those of the stack of matrices, and the whole shape of each operand that is given back.
#[derive(Clone, Debug)]
pub struct Shapes {
    pub stack: Vec<usize>,
    pub outputs: Vec<Vec<usize>>,
}

/// Why shapes do not meet a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    Count { expected: usize, found: usize },
    Rank { operand: usize },
    Length { operand: usize, axis: char },
    Stack,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Count { expected, found } => write!(f, "there are {found} operands, not {expected}"),
            Mismatch::Rank { operand } => write!(f, "operand {operand} has not enough axes"),
            Mismatch::Length { operand, axis } => write!(f, "operand {operand} has another length along its axis {axis}"),
            Mismatch::Stack => f.write_str("the axes in front of the matrices cannot be broadcast together"),
        }
    }
}

impl std::error::Error for Mismatch {}

/// The shapes of a call's results, found from those of its operands.
pub fn resolve(inputs: &[Form], outputs: &[Form], shapes: &[&[usize]]) -> Result<Shapes, Mismatch> {
    if shapes.len() != inputs.len() {
        return Err(Mismatch::Count {
            expected: inputs.len(),
            found: shapes.len(),
        });
    }
    let mut lengths: Vec<(char, usize)> = Vec::new();
    let mut stack: Vec<usize> = Vec::new();
    for (operand, (form, shape)) in inputs.iter().zip(shapes).enumerate() {
        let Some(front) = shape.len().checked_sub(form.axes.len()) else {
            return Err(Mismatch::Rank { operand });
        };
        for (axis, &length) in form.axes.chars().zip(&shape[front..]) {
            match lengths.iter().find(|(name, _)| *name == axis) {
                Some((_, known)) if *known != length => return Err(Mismatch::Length { operand, axis }),
                Some(_) => {}
                None => lengths.push((axis, length)),
            }
        }
        stack = broadcast(&stack, &shape[..front]).ok_or(Mismatch::Stack)?;
    }
    let length = |axis: char| match axis {
        'l' => find(&lengths, 'm').min(find(&lengths, 'n')),
        other => find(&lengths, other),
    };
    let whole = |form: &Form| stack.iter().copied().chain(form.axes.chars().map(length)).collect();
    let outputs = outputs.iter().map(whole).collect();
    Ok(Shapes { stack, outputs })
}

fn find(lengths: &[(char, usize)], axis: char) -> usize {
    lengths.iter().find(|(name, _)| *name == axis).map_or(0, |(_, length)| *length)
}

fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis]);
    (0..rank)
        .map(|axis| match (at(a, axis), at(b, axis)) {
            (n, m) if n == m || m == 1 => Some(n),
            (1, m) => Some(m),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME: [Form; 2] = [
        Form {
            axes: "mn",
            kind: Kind::Same,
        },
        Form {
            axes: "nk",
            kind: Kind::Same,
        },
    ];
    const OUT: [Form; 2] = [
        Form {
            axes: "mk",
            kind: Kind::Same,
        },
        Form {
            axes: "l",
            kind: Kind::Real,
        },
    ];

    #[test]
    fn lengths_are_found() {
        let found = resolve(&SAME, &OUT, &[&[5, 1, 2, 3], &[4, 3, 7]]).unwrap();
        assert_eq!(found.stack, [5, 4]);
        assert_eq!(found.outputs, [vec![5, 4, 2, 7], vec![5, 4, 2]]);
    }

    #[test]
    fn what_does_not_meet_is_named() {
        let mismatch = |a: &[usize], b: &[usize]| resolve(&SAME, &OUT, &[a, b]).unwrap_err();
        assert_eq!(mismatch(&[2, 3], &[4, 3]), Mismatch::Length { operand: 1, axis: 'n' });
        assert_eq!(mismatch(&[2], &[4, 3]), Mismatch::Rank { operand: 0 });
        assert_eq!(mismatch(&[2, 2, 3], &[3, 3, 3]), Mismatch::Stack);
        assert!(matches!(resolve(&SAME, &OUT, &[&[1, 1]]), Err(Mismatch::Count { .. })));
    }

    #[test]
    fn stacks_without_matrices_stay_empty() {
        let found = resolve(&SAME, &OUT, &[&[0, 2, 3], &[1, 3, 7]]).unwrap();
        assert_eq!(found.stack, [0]);
    }
}
