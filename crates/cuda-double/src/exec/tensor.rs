//! Matrices that lie across the registers of a warp: `ldmatrix`, and `mma`, as PTX's manual lays them out.
//!
//! All 32 lanes must take part. Products are exact; each sum is that of the numbers in double precision, in their order along the inner axis,
//! with what is added to them first, and rounded to float32 once. What hardware loses on the way it does not say, and it may lose more.

use half::{bf16, f16};

use super::block::Block;
use super::fault::{Fault, LAUNCH_FAILED};
use super::inst::{Address, Factors, Op, Tensor};
use super::lanes::{FULL, Row, Slot, WARP, lanes};
use super::launch::Launch;
use super::warp::{Group, Next, Warp};

/// Rows and columns of the sums, and of the squares that are loaded.
const ROWS: usize = 16;
const COLUMNS: usize = 8;
const SQUARE: usize = 8;

impl Factors {
    /// How many numbers are along the inner axis, and how many of them in a word.
    fn depth(self) -> (usize, usize) {
        match self {
            Factors::F16 | Factors::BF16 => (16, 2),
            Factors::TF32 => (8, 1),
        }
    }

    /// A number of a word.
    fn number(self, word: u32, part: usize) -> f64 {
        let half = (word >> (16 * part)) as u16;
        match self {
            Factors::F16 => f16::from_bits(half).to_f64(),
            Factors::BF16 => bf16::from_bits(half).to_f64(),
            // The lower bits are none of its.
            Factors::TF32 => f32::from_bits(word & !0x1fff).into(),
        }
    }
}

impl Warp {
    /// What all lanes do at once, or wait to do.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn tensor(
        &mut self,
        launch: &Launch,
        constants: &[Row],
        block: &mut Block,
        group: &mut Group,
        members: Slot,
        class: u32,
        mask: u32,
    ) -> Result<Next, Fault> {
        self.whole_warp(launch, block, group.pc, self.live)?;
        if mask != FULL {
            return self
                .wait_together(launch, constants, block, group, members, class, mask)
                .map(Next::from);
        }
        self.place(FULL, group.pc);
        self.perform_tensor(launch, constants, block, group.pc)?;
        group.pc += 1;
        Ok(Next::Go)
    }

    /// Complains of lanes that are missing.
    fn whole_warp(&self, launch: &Launch, block: &Block, pc: u32, here: u32) -> Result<(), Fault> {
        if here == FULL {
            return Ok(());
        }
        let line = launch.program.code[pc as usize].line;
        let message = format!(
            "all 32 lanes of a warp must execute this together, and {} of them have ended or do not exist",
            (!here).count_ones()
        );
        Err(self.fault(launch, block, line, here, LAUNCH_FAILED, &message))
    }

    /// All lanes that are left wait at one instruction for tensor cores.
    pub(super) fn settle_tensor(&mut self, launch: &Launch, constants: &[Row], block: &mut Block, here: u32, pc: u32) -> Result<(), Fault> {
        self.whole_warp(launch, block, pc, here)?;
        self.perform_tensor(launch, constants, block, pc)
    }

    fn perform_tensor(&mut self, launch: &Launch, constants: &[Row], block: &mut Block, pc: u32) -> Result<(), Fault> {
        let Op::Tensor { what, .. } = launch.program.code[pc as usize].op else {
            return Ok(());
        };
        match launch.program.tensors[what as usize] {
            Tensor::Load {
                address,
                count,
                transposed,
                to,
            } => self.load_squares(launch, constants, block, pc, address, &to[..usize::from(count)], transposed),
            Tensor::Multiply {
                factors,
                to,
                left,
                right,
                sums,
            } => {
                self.multiply(launch, constants, factors, to, left, right, sums);
                Ok(())
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn load_squares(
        &mut self,
        launch: &Launch,
        constants: &[Row],
        block: &mut Block,
        pc: u32,
        address: Address,
        to: &[Slot],
        transposed: bool,
    ) -> Result<(), Fault> {
        block.races.tick();
        // Each lane of as many as there are rows says where one lies.
        let mut squares = vec![[[0u16; SQUARE]; SQUARE]; to.len()];
        for lane in 0..SQUARE * to.len() {
            let at = address.of(self.read(launch, constants, lane, address.base));
            let bytes = self.row_of_square(launch, block, pc, lane, address.space, at)?;
            for (number, pair) in squares[lane / SQUARE][lane % SQUARE].iter_mut().zip(bytes.chunks_exact(2)) {
                *number = u16::from_le_bytes([pair[0], pair[1]]);
            }
        }
        for (square, slot) in squares.iter().zip(to) {
            for lane in lanes(FULL) {
                let (row, column) = (lane / 4, lane % 4 * 2);
                let [low, high] = [column, column + 1].map(|c| if transposed { square[c][row] } else { square[row][c] });
                let (rows, _) = self.lane_rows(launch, constants, lane);
                rows.set(*slot, lane, u64::from(low) | u64::from(high) << 16);
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn multiply(
        &mut self,
        launch: &Launch,
        constants: &[Row],
        factors: Factors,
        to: [Slot; 4],
        left: [Slot; 4],
        right: [Slot; 2],
        sums: [Slot; 4],
    ) {
        let (depth, parts) = factors.depth();
        let mut rows = [[0.0; 16]; ROWS];
        let mut columns = [[0.0; 16]; COLUMNS];
        let mut found = [[0.0; 4]; WARP];
        for lane in lanes(FULL) {
            let (quad, place) = (lane / 4, lane % 4 * parts);
            let word = |slot| self.read(launch, constants, lane, slot) as u32;
            for (i, slot) in left.iter().enumerate() {
                for part in 0..parts {
                    rows[quad + i % 2 * 8][place + i / 2 * (depth / 2) + part] = factors.number(word(*slot), part);
                }
            }
            for (i, slot) in right.iter().enumerate() {
                for part in 0..parts {
                    columns[quad][place + i * (depth / 2) + part] = factors.number(word(*slot), part);
                }
            }
            found[lane] = sums.map(|slot| f64::from(f32::from_bits(word(slot))));
        }
        for lane in lanes(FULL) {
            for (i, slot) in to.iter().enumerate() {
                let (row, column) = (&rows[lane / 4 + i / 2 * 8], &columns[lane % 4 * 2 + i % 2]);
                let sum = row[..depth].iter().zip(column).fold(found[lane][i], |sum, (x, y)| sum + x * y);
                let (registers, _) = self.lane_rows(launch, constants, lane);
                registers.set(*slot, lane, u64::from((sum as f32).to_bits()));
            }
        }
    }
}
