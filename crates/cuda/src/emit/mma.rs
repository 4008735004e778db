//! Products of matrices on tensor cores: `mma.sync`, and the loads of what it multiplies.
//!
//! A tile of 16 by 8 sums takes a fragment of each factor, of 32 bytes along the inner axis. What a lane holds of a fragment are words of
//! 32 bits; PTX's manual says which ("Matrix Fragments for mma.m16n8k16", "for mma.m16n8k8"). 16-bit floats come by `ldmatrix`, which
//! takes squares of 8 by 8 from shared memory, each row from the address that one lane says, as they lie or transposed. float32 comes
//! word by word, and is rounded to what the tensor cores multiply.

use weft_ir::mma::{self, COLUMNS, ROWS, SUMS};
use weft_ir::{Geometry, Layout, Scalar};
use weft_thread::{Code, Numbers};

use super::func::Fx;
use super::values::{Res, View};
use super::writer::{Memory, Operand, Ty};

/// From which compute capability on there are `mma` of these shapes and types.
const FIRST_SM: u32 = 80;

/// The most tiles of sums: as many registers as a thread can spare.
const MOST_TILES: i64 = 64;

const FOUR_FLOATS: &str = "{ float, float, float, float }";

/// The larger extent of the squares that `ldmatrix` loads, in bytes and in rows.
const SQUARE_BYTES: i64 = 16;
const SQUARE: i64 = 8;

/// A factor, and what of it is the same for all tiles.
struct Factor {
    base: Operand,
    elem: Scalar,
    /// Bytes from one row of the view to the next.
    stride: Operand,
    transposed: bool,
}

impl Fx<'_, '_> {
    pub fn products_of_tiles(&mut self, elem: Scalar, sums: &View, factors: [&View; 2], transposed: [bool; 2]) -> Res<()> {
        if self.cx.target.sm < FIRST_SM {
            return self.unsupported("cuda.mma takes an NVIDIA GPU of compute capability 8.0 or newer");
        }
        let shape = sums.shape.iter().map(|n| n.const_int()).collect::<Option<Vec<i64>>>();
        let Some(&[down, across, SUMS]) = shape.as_deref() else {
            return self.unsupported("the sums of cuda.mma are a whole cuda.local.array of shape (p, q, 4), known when it is compiled");
        };
        if down.saturating_mul(across) > MOST_TILES {
            return self.unsupported(format!(
                "the sums of cuda.mma are {MOST_TILES} tiles at the most, and these are {down} by {across}"
            ));
        }
        let lane = self.geometry(Geometry::LaneId);
        let lane = self.take_short(lane);
        let left = self.factor(elem, factors[0], transposed[0])?;
        let right = self.factor(elem, factors[1], transposed[1])?;
        let rows = self.left_fragments(&left, lane, down);
        let columns = self.right_fragments(&right, lane, across);
        for (i, row) in rows.iter().enumerate() {
            for (j, column) in columns.iter().enumerate() {
                let tile = i as i64 * across + j as i64;
                self.add_product(elem, sums.place.base, tile * 4 * SUMS, row, column);
            }
        }
        Ok(())
    }

    fn factor(&mut self, elem: Scalar, view: &View, transposed: bool) -> Res<Factor> {
        let size = view.ty.elem.size() as i64;
        let (step, held) = match view.ty.layout {
            Layout::Row => (view.strides[0], 1),
            _ => (view.shape[1], size),
        };
        if step.const_int().is_some_and(|n| !mma::is_aligned(elem, n.wrapping_mul(held))) {
            return self.unsupported(mma::NOT_ALIGNED);
        }
        let step = self.take(step);
        let stride = self.w.binary("mul", step, step.ty.int_const(held));
        Ok(Factor {
            base: view.place.base,
            elem,
            stride: self.w.resize(stride, Ty::I32, true),
            transposed,
        })
    }

    /// The four words of each tile's rows.
    fn left_fragments(&mut self, left: &Factor, lane: Operand, tiles: i64) -> Vec<Vec<Operand>> {
        if left.elem == Scalar::F32 {
            return (0..tiles).map(|tile| self.words_of_rows(left, lane, tile)).collect();
        }
        // Squares in order: the upper and the lower rows of the first half of the inner axis, then of the second.
        let start = self.start_of_squares(left, lane, left.transposed);
        (0..tiles)
            .map(|tile| {
                let at = self.moved_by(left, start, ROWS * tile, 0);
                self.squares(at, 4, left.transposed)
            })
            .collect()
    }

    /// The two words of each tile's columns.
    fn right_fragments(&mut self, right: &Factor, lane: Operand, tiles: i64) -> Vec<Vec<Operand>> {
        if right.elem == Scalar::F32 {
            return (0..tiles).map(|tile| self.words_of_columns(right, lane, tile)).collect();
        }
        // Squares in order: of a tile the first half of the inner axis and the second, then of the next.
        let start = self.start_of_squares(right, lane, right.transposed);
        let mut found = Vec::new();
        for tile in (0..tiles).step_by(2) {
            let at = self.moved_by(right, start, 0, COLUMNS * tile);
            let words = self.squares(at, if tile + 1 < tiles { 4 } else { 2 }, !right.transposed);
            found.extend(words.chunks(2).map(<[Operand]>::to_vec));
        }
        found
    }

    /// Where the row of a square lies that a lane has to say, for the first tile. The second of four squares is the one below the first,
    /// or (`beside`) the one at its right side.
    fn start_of_squares(&mut self, factor: &Factor, lane: Operand, beside: bool) -> Operand {
        let number = |n| Ty::I32.int_const(n);
        let (half, quarter) = (self.w.binary("lshr", lane, number(4)), self.w.binary("and", lane, number(SQUARE)));
        let (row, column) = if beside {
            let inside = self.w.binary("and", lane, number(SQUARE - 1));
            let below = self.w.binary("mul", half, number(SQUARE));
            let right = self.w.binary("mul", quarter, number(SQUARE_BYTES / SQUARE));
            (self.w.binary("or", inside, below), right)
        } else {
            let right = self.w.binary("mul", half, number(SQUARE_BYTES));
            (self.w.binary("and", lane, number(2 * SQUARE - 1)), right)
        };
        self.at(factor, row, column)
    }

    /// The address so many rows and bytes behind the first element.
    fn at(&mut self, factor: &Factor, row: Operand, bytes: Operand) -> Operand {
        let down = self.w.binary("mul", row, factor.stride);
        let offset = self.w.binary("add", down, bytes);
        self.w
            .inst(factor.base.ty, format_args!("getelementptr i8, {}, {offset}", factor.base))
    }

    /// The address of another tile: so many rows or columns of the matrix further, which are the other way round in its transpose.
    fn moved_by(&mut self, factor: &Factor, start: Operand, rows: i64, columns: i64) -> Operand {
        let (rows, columns) = if factor.transposed { (columns, rows) } else { (rows, columns) };
        let size = factor.elem.size() as i64;
        let down = self.w.binary("mul", factor.stride, Ty::I32.int_const(rows));
        let offset = self.w.binary("add", down, Ty::I32.int_const(columns * size));
        self.w.inst(start.ty, format_args!("getelementptr i8, {start}, {offset}"))
    }

    /// Words of squares of 16-bit floats.
    fn squares(&mut self, at: Operand, count: usize, transposed: bool) -> Vec<Operand> {
        let words = format!("{{ {} }}", vec!["i32"; count].join(", "));
        let name = format!(
            "ldmatrix.sync.aligned.m8n8.x{count}{}.b16.p3",
            if transposed { ".trans" } else { "" }
        );
        let call = self.nvvm_call(&name, &words, &[at]);
        let all = self.w.aggregate(format_args!("{call}"));
        (0..count)
            .map(|i| self.w.inst(Ty::I32, format_args!("extractvalue {words} {all}, {i}")))
            .collect()
    }

    fn words_of_rows(&mut self, left: &Factor, lane: Operand, tile: i64) -> Vec<Operand> {
        let (group, place) = self.quads(lane);
        let places = [(0, 0), (SQUARE, 0), (0, 4), (SQUARE, 4)];
        places
            .map(|(row, step)| self.word(left, group, place, [ROWS * tile + row, step]))
            .to_vec()
    }

    fn words_of_columns(&mut self, right: &Factor, lane: Operand, tile: i64) -> Vec<Operand> {
        let (group, place) = self.quads(lane);
        [0, 4].map(|step| self.word(right, place, group, [step, COLUMNS * tile])).to_vec()
    }

    /// A lane's four, and its place among them.
    fn quads(&mut self, lane: Operand) -> (Operand, Operand) {
        (
            self.w.binary("lshr", lane, Ty::I32.int_const(2)),
            self.w.binary("and", lane, Ty::I32.int_const(3)),
        )
    }

    /// A float32 of the matrix, rounded to what is multiplied.
    fn word(&mut self, factor: &Factor, row: Operand, column: Operand, [rows, columns]: [i64; 2]) -> Operand {
        let (down, right) = if factor.transposed { (column, row) } else { (row, column) };
        let bytes = self.w.binary("mul", right, Ty::I32.int_const(4));
        let at = self.at(factor, down, bytes);
        let at = self.moved_by(factor, at, rows, columns);
        let value = self.w.inst(Ty::F32, format_args!("load float, {at}, align 4"));
        self.nvvm("f2tf32.rna", Ty::I32, &[value])
    }

    /// One `mma.sync`, whose sums are so many bytes behind the first.
    fn add_product(&mut self, elem: Scalar, sums: Operand, bytes: i64, row: &[Operand], column: &[Operand]) {
        let places: Vec<Operand> = (0..SUMS)
            .map(|i| {
                let at = bytes + 4 * i;
                self.w.inst(
                    Ty::Ptr(Memory::Generic),
                    format_args!("getelementptr inbounds i8, {sums}, i32 {at}"),
                )
            })
            .collect();
        let (name, word) = match elem {
            Scalar::F16 => ("m16n8k16.row.col.f32.f32", "<2 x half>"),
            Scalar::BF16 => ("m16n8k16.row.col.bf16", "i32"),
            _ => ("m16n8k8.row.col.tf32", "i32"),
        };
        let mut args = Vec::new();
        for factor in row.iter().chain(column) {
            args.push(if elem == Scalar::F16 {
                let pair = self.w.aggregate(format_args!("bitcast {factor} to {word}"));
                format!("{word} {pair}")
            } else {
                factor.to_string()
            });
        }
        for place in &places {
            args.push(self.w.load(Ty::F32, *place).to_string());
        }
        let types = [vec![word; row.len() + column.len()], vec!["float"; places.len()]]
            .concat()
            .join(", ");
        self.cx.declare(format!("declare {FOUR_FLOATS} @llvm.nvvm.mma.{name}({types})"));
        // LLVM takes it for a function of its operands alone, which it may copy into branches that not all lanes take.
        let all = self.w.aggregate(format_args!(
            "call {FOUR_FLOATS} @llvm.nvvm.mma.{name}({}) convergent",
            args.join(", ")
        ));
        for (i, place) in places.into_iter().enumerate() {
            let sum = self.w.inst(Ty::F32, format_args!("extractvalue {FOUR_FLOATS} {all}, {i}"));
            self.w.store(sum, place);
        }
    }
}
