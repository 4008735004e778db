//! Memory of devices as libraries reach it: rows of numbers at an address, matrices in column-major order.

use super::number::{Format, Number};
use crate::driver::context::Context;
use crate::driver::{driver, lock};
use crate::exec::fault::{Fault, ILLEGAL_ADDRESS, MISALIGNED};
use crate::exec::table::Span;

/// Bytes at an address that a kernel on the context's device may use.
pub fn bytes_at(context: &Context, address: u64, bytes: u64, align: usize) -> Result<Span, Fault> {
    let driver = driver().map_err(|code| Fault::new(code, "the driver is not initialised"))?;
    if !address.is_multiple_of(align as u64) {
        return Err(Fault::new(MISALIGNED, format!("0x{address:x} is no multiple of {align}")));
    }
    let table = driver.memory.table();
    let refuse = |what: String| Err(Fault::new(ILLEGAL_ADDRESS, format!("{bytes} bytes at 0x{address:x}: {what}")));
    let Some(region) = table.containing(address) else {
        return refuse("no allocation is there".to_owned());
    };
    let Some(span) = region.span(address, bytes) else {
        return refuse(format!("not all within {}", region.describe()));
    };
    if region.device != context.device && !region.kind.host() && !lock(&context.peers).contains(&region.device) {
        return refuse(format!("{}, to which this device has no peer access", region.describe()));
    }
    Ok(span)
}

/// Numbers of a format from an address on.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub address: u64,
    pub format: Format,
}

impl Row {
    pub fn new(address: u64, format: Format) -> Row {
        Row { address, format }
    }

    /// So many elements further on.
    pub fn at(self, elements: i64) -> Row {
        Row {
            address: self.address.wrapping_add_signed(elements * self.format.bytes() as i64),
            ..self
        }
    }

    fn span(self, context: &Context, count: usize) -> Result<Span, Fault> {
        bytes_at(context, self.address, (count * self.format.bytes()) as u64, self.format.align())
    }

    pub fn load(self, context: &Context, count: usize) -> Result<Vec<Number>, Fault> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let size = self.format.bytes();
        let bytes = self.span(context, count)?.bytes((count * size) as u64);
        Ok(bytes.chunks_exact(size).map(|each| self.format.load(each)).collect())
    }

    pub fn store(self, context: &Context, numbers: &[Number]) -> Result<(), Fault> {
        if numbers.is_empty() {
            return Ok(());
        }
        let size = self.format.bytes();
        let mut bytes = vec![0; numbers.len() * size];
        for (number, to) in numbers.iter().zip(bytes.chunks_exact_mut(size)) {
            self.format.store(*number, to);
        }
        self.span(context, numbers.len())?.store(&bytes);
        Ok(())
    }
}

/// A matrix of doubles in column-major order, without gaps.
#[derive(Clone, Debug)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub numbers: Vec<Number>,
}

impl Matrix {
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix {
            rows,
            columns,
            numbers: vec![Number::default(); rows * columns],
        }
    }

    pub fn get(&self, row: usize, column: usize) -> Number {
        self.numbers[column * self.rows + row]
    }

    pub fn set(&mut self, row: usize, column: usize, number: Number) {
        self.numbers[column * self.rows + row] = number;
    }

    /// The matrix whose columns lie `leading` elements apart.
    pub fn load(context: &Context, from: Row, rows: usize, columns: usize, leading: usize) -> Result<Matrix, Fault> {
        let mut found = Matrix::zeros(rows, columns);
        for column in 0..columns {
            let numbers = from.at((column * leading) as i64).load(context, rows)?;
            found.numbers[column * rows..][..rows].copy_from_slice(&numbers);
        }
        Ok(found)
    }

    pub fn store(&self, context: &Context, to: Row, leading: usize) -> Result<(), Fault> {
        for column in 0..self.columns {
            to.at((column * leading) as i64)
                .store(context, &self.numbers[column * self.rows..][..self.rows])?;
        }
        Ok(())
    }
}

/// Whole numbers of `size` bytes at an address, as pivots and flags are.
pub fn store_integers(context: &Context, address: u64, size: usize, values: &[i64]) -> Result<(), Fault> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()[..size].to_vec()).collect();
    bytes_at(context, address, bytes.len() as u64, size)?.store(&bytes);
    Ok(())
}

pub fn load_integers(context: &Context, address: u64, size: usize, count: usize) -> Result<Vec<i64>, Fault> {
    let bytes = bytes_at(context, address, (size * count) as u64, size)?.bytes((size * count) as u64);
    let value = |each: &[u8]| {
        let mut all = [if each[size - 1] & 0x80 == 0 { 0 } else { 0xff }; 8];
        all[..size].copy_from_slice(each);
        i64::from_le_bytes(all)
    };
    Ok(bytes.chunks_exact(size).map(value).collect())
}

/// Overwrites a workspace, so that what somebody else keeps there is lost.
pub fn spoil(context: &Context, address: u64, bytes: usize) -> Result<(), Fault> {
    if bytes > 0 {
        bytes_at(context, address, bytes as u64, 1)?.store(&vec![0xee; bytes]);
    }
    Ok(())
}
