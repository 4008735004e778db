//! Values of test lines, and arrays as they lie in memory.

use crate::eval;
use crate::op::Const;
use crate::types::{Layout, Scalar};

#[derive(Clone, Debug, PartialEq)]
pub enum TestValue {
    Scalar(Const),
    Array(Array),
    Tuple(Vec<TestValue>),
}

/// An array's elements in C order, and the layout its parameter asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub elem: Scalar,
    pub shape: Vec<u64>,
    pub layout: Layout,
    pub data: Vec<Const>,
}

/// An array in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    pub bytes: Vec<u8>,
    /// Where element `0, 0, …` lies.
    pub offset: i64,
    /// In bytes.
    pub strides: Vec<i64>,
}

impl TestValue {
    /// Are the values equal, bit for bit (but for NaNs) or, where `about`, to within the tolerance?
    pub fn matches(&self, other: &TestValue, about: bool) -> bool {
        match (self, other) {
            (TestValue::Scalar(a), TestValue::Scalar(b)) => same(*a, *b, about),
            (TestValue::Array(a), TestValue::Array(b)) => {
                a.elem == b.elem && a.shape == b.shape && a.data.iter().zip(&b.data).all(|(a, b)| same(*a, *b, about))
            }
            (TestValue::Tuple(a), TestValue::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.matches(b, about)),
            _ => false,
        }
    }
}

fn same(a: Const, b: Const, about: bool) -> bool {
    match (a, b) {
        (Const::F16(_), Const::F16(_)) => same_small(a, b, about.then_some(2e-3)),
        (Const::BF16(_), Const::BF16(_)) => same_small(a, b, about.then_some(1.6e-2)),
        (Const::F32(a), Const::F32(b)) => same_float(f32::from_bits(a).into(), f32::from_bits(b).into(), about.then_some(1e-5)),
        (Const::F64(a), Const::F64(b)) => same_float(f64::from_bits(a), f64::from_bits(b), about.then_some(1e-12)),
        (Const::C64(ar, ai), Const::C64(br, bi)) => {
            same(Const::F32(ar), Const::F32(br), about) && same(Const::F32(ai), Const::F32(bi), about)
        }
        (Const::C128(ar, ai), Const::C128(br, bi)) => {
            same(Const::F64(ar), Const::F64(br), about) && same(Const::F64(ai), Const::F64(bi), about)
        }
        _ => a == b,
    }
}

fn same_small(a: Const, b: Const, tolerance: Option<f64>) -> bool {
    match (eval::cast(a, Scalar::F64), eval::cast(b, Scalar::F64)) {
        (Some(Const::F64(a)), Some(Const::F64(b))) => same_float(f64::from_bits(a), f64::from_bits(b), tolerance),
        _ => false,
    }
}

fn same_float(a: f64, b: f64, tolerance: Option<f64>) -> bool {
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    match tolerance {
        Some(tolerance) => a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()),
        None => a.to_bits() == b.to_bits(),
    }
}

/// Elements left between neighbours of a strided array, so that wrong strides show.
const GAP: i64 = 2;

impl Array {
    /// The strides a layout gives, in bytes. `Any` leaves gaps and runs backwards along its first axis, `Row` leaves gaps between rows.
    fn strides(&self) -> Vec<i64> {
        let size = self.elem.size() as i64;
        let rank = self.shape.len();
        let order: Vec<usize> = if self.layout == Layout::F {
            (0..rank).collect()
        } else {
            (0..rank).rev().collect()
        };
        let mut strides = vec![0; rank];
        let mut next = if self.layout == Layout::Any { size * GAP } else { size };
        for axis in order {
            strides[axis] = next;
            next *= self.shape[axis].max(1) as i64;
            if matches!(self.layout, Layout::Any | Layout::Row) {
                next += GAP * size;
            }
        }
        if self.layout == Layout::Any && rank > 0 {
            strides[0] = -strides[0];
        }
        strides
    }

    /// The array laid out in memory as its layout says.
    pub fn place(&self) -> Placed {
        let strides = self.strides();
        let size = self.elem.size() as i64;
        let reach = |sign: i64| -> i64 {
            let axes = self.shape.iter().zip(&strides);
            axes.map(|(len, stride)| (sign * stride).max(0) * (*len as i64 - 1).max(0)).sum()
        };
        let offset = reach(-1);
        let mut placed = Placed {
            bytes: vec![0; (offset + reach(1) + size) as usize],
            offset,
            strides,
        };
        for (at, value) in self.offsets(&placed).into_iter().zip(&self.data) {
            let bytes = value.to_bytes();
            placed.bytes[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        placed
    }

    /// The array again, with the elements that now lie where it was placed.
    pub fn read_back(&self, placed: &Placed) -> Array {
        let size = self.elem.size();
        let read = |at: usize| match (self.elem, placed.bytes.get(at..at + size)) {
            (Scalar::Bool, Some(bytes)) => Const::Bool(bytes[0] != 0),
            (_, Some(bytes)) => Const::from_bytes(self.elem, bytes).unwrap_or(Const::Bool(false)),
            (_, None) => Const::Bool(false),
        };
        Array {
            data: self.offsets(placed).into_iter().map(read).collect(),
            ..self.clone()
        }
    }

    /// The byte offset of every element, in C order.
    fn offsets(&self, placed: &Placed) -> Vec<usize> {
        let mut offsets = vec![placed.offset];
        for (len, stride) in self.shape.iter().zip(&placed.strides) {
            offsets = offsets
                .iter()
                .flat_map(|base| (0..*len as i64).map(move |i| base + i * stride))
                .collect();
        }
        offsets.into_iter().map(|at| at as usize).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_gives_the_elements_back() {
        for layout in [Layout::C, Layout::F, Layout::Row, Layout::Any] {
            for shape in [vec![], vec![3], vec![0], vec![2, 3], vec![2, 0, 3], vec![2, 3, 4]] {
                let count: u64 = shape.iter().product();
                let array = Array {
                    elem: Scalar::I32,
                    shape,
                    layout,
                    data: (0..count as i64).map(|i| Const::Int(Scalar::I32, i)).collect(),
                };
                assert_eq!(array.read_back(&array.place()), array);
            }
        }
    }

    #[test]
    fn floats_compare_by_bits_but_for_nans() {
        let value = |x: f64| TestValue::Scalar(Const::f64(x));
        assert!(!value(0.0).matches(&value(-0.0), false));
        assert!(value(f64::NAN).matches(&value(-f64::NAN), false));
        assert!(!value(1.0).matches(&value(1.0 + 1e-15), false));
        assert!(value(1.0).matches(&value(1.0 + 1e-15), true));
        assert!(!value(1.0).matches(&value(1.1), true));
    }
}
