//! What a device's float arithmetic is like.

use weft_ir::{Const, Scalar, UnOp, eval};

use super::Bench;
use super::rows::{self, Question};
use crate::emit::numbers::{trial, trial::Trial};
use crate::features::{Comparisons, Features, Subnormals};

/// Fills in `exact_*` and `subnormals*`, which `said` need not know.
pub fn try_out(bench: &Bench, said: &Features) -> Result<Features, String> {
    let claimed = Features {
        exact_fma32: true,
        exact_fma64: true,
        exact_divide: true,
        exact_sqrt: true,
        exact_divide64: true,
        exact_sqrt64: true,
        exact_rounding32: true,
        exact_rounding64: true,
        exact_zeros: true,
        subnormals32: Subnormals::EXACT,
        subnormals64: Subnormals::EXACT,
        exact_widening: true,
        exact_narrowing: true,
        ..*said
    };
    let wide = |s: &Scalar| *s != Scalar::F64 || said.float64 && said.int64;
    let scalars: Vec<Scalar> = [Scalar::F32, Scalar::F64].into_iter().filter(wide).collect();
    let mut answers = Answers::default();
    for &s in &scalars {
        answers.ask(bench, &claimed, s, rows::questions(s))?;
    }
    if scalars.len() == 2 {
        answers.ask(bench, &claimed, Scalar::F64, rows::conversions())?;
    }
    let is = |s, question| answers.right(s, question);
    let (single, double) = (Scalar::F32, Scalar::F64);
    let subnormals = |s| Subnormals {
        kept: is(s, Question::Kept),
        compared: if is(s, Question::Compared) {
            Comparisons::Own
        } else {
            Comparisons::Scaled
        },
        absolute: is(s, Question::Absolute),
        negated: is(s, Question::Negated),
        fused: is(s, Question::Fused),
        divided: is(s, Question::Divided),
        rooted: is(s, Question::Rooted),
    };
    let mut features = Features {
        exact_fma32: is(single, Question::Fma),
        exact_fma64: is(double, Question::Fma),
        exact_divide: is(single, Question::Quotient),
        exact_divide64: is(double, Question::Quotient),
        exact_sqrt: is(single, Question::Root),
        exact_sqrt64: is(double, Question::Root),
        exact_rounding32: is(single, Question::Rounding),
        exact_rounding64: is(double, Question::Rounding),
        exact_zeros: scalars.iter().all(|&s| is(s, Question::Zeros)),
        subnormals32: subnormals(single),
        subnormals64: subnormals(double),
        exact_widening: is(double, Question::Widened),
        exact_narrowing: is(double, Question::Narrowed),
        ..*said
    };
    if features.subnormals32.compared != Comparisons::Own {
        features.subnormals32.compared = scaled_or_bits(bench, &features, single)?;
    }
    if scalars.len() == 2 && features.subnormals64.compared != Comparisons::Own {
        features.subnormals64.compared = scaled_or_bits(bench, &features, double)?;
    }
    Ok(features)
}

/// How to compare where the device's own comparisons are wrong. The features say: multiplied.
fn scaled_or_bits(bench: &Bench, features: &Features, s: Scalar) -> Result<Comparisons, String> {
    let mut answers = Answers::default();
    answers.ask(bench, features, s, rows::comparisons(s))?;
    Ok(match answers.right(s, Question::Compared) {
        true => Comparisons::Scaled,
        false => Comparisons::ByBits,
    })
}

/// Which trials gave what they should.
#[derive(Default)]
struct Answers(Vec<(Scalar, Question, bool)>);

impl Answers {
    fn ask(&mut self, bench: &Bench, features: &Features, s: Scalar, asked: Vec<(Question, Trial)>) -> Result<(), String> {
        let (questions, trials): (Vec<Question>, Vec<Trial>) = asked.into_iter().unzip();
        let results = bench.run(features, &trials)?;
        let right = trials.iter().zip(&results).map(|(trial, words)| is_right(trial, words));
        self.0
            .extend(questions.into_iter().zip(right).map(|(question, right)| (s, question, right)));
        Ok(())
    }

    /// Were all of a question's? Not if it was not asked.
    fn right(&self, s: Scalar, question: Question) -> bool {
        let mut answers = self.0.iter().filter(|(t, q, _)| (*t, *q) == (s, question)).peekable();
        answers.peek().is_some() && answers.all(|(.., right)| *right)
    }
}

/// A NaN is as good as any other.
fn is_right(trial: &Trial, words: &[u64]) -> bool {
    let nan = |c| eval::unary(UnOp::IsNan, c) == Some(Const::Bool(true));
    let same = |(row, &got): (usize, &u64)| match trial.expected(row) {
        Some(expected) if nan(expected) => match expected {
            Const::F32(_) => f32::from_bits(got as u32).is_nan(),
            _ => f64::from_bits(got).is_nan(),
        },
        expected => expected.map(trial::word) == Some(got),
    };
    words.len() == trial.rows() && words.iter().enumerate().all(same)
}
