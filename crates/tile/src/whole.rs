//! Whole parts of floats as integers. Rust's own conversions look at the range once more, which no vector unit does.

#![allow(unsafe_code)] // Of what is out of range they make no number.

macro_rules! whole {
    ($($name:ident: $float:ty => $int:ty, $above:expr, $below:expr;)*) => {$(
        /// The whole part; of what is out of range, and of NaN, the least integer.
        #[inline(always)]
        pub fn $name(x: $float) -> $int {
            if (x > $above) & (x < $below) {
                // SAFETY: the whole part of what lies between these is an integer of the type.
                unsafe { x.to_int_unchecked() }
            } else {
                <$int>::MIN
            }
        }
    )*};
}

// The least integer itself may lie outside: it is what the others become.
whole! {
    word_of_f32: f32 => i32, -2_147_483_648.0, 2_147_483_648.0;
    word_of_f64: f64 => i32, -2_147_483_649.0, 2_147_483_648.0;
    long_of_f32: f32 => i64, -9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0;
    long_of_f64: f64 => i64, -9_223_372_036_854_775_808.0, 9_223_372_036_854_775_808.0;
}
