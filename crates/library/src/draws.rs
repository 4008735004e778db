//! The table of what makes random numbers: definitions of texts that `weft.random` knows by these names, without the underscore that the
//! texts have before them. None is a name of NumPy's.

use crate::table::Row;

/// A function of a source of bits and of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    pub row: Row,
    /// The `def`.
    pub definition: &'static str,
}

macro_rules! draws {
    ($($file:literal: $($name:ident)*;)*) => {
        static DRAWS: &[Draw] = &[$($(Draw {
            row: Row { name: stringify!($name), file: $file, method: None },
            definition: concat!("_", stringify!($name)),
        },)*)*];
    };
}

draws! {
    "random_bits": bits below fill_words;
    "random_floats": random64 random32 normal64 normal32 exponential64 exponential32
        uniform normal exponential cauchy laplace logistic lognormal gumbel pareto power rayleigh wald weibull triangular vonmises;
    "random_gamma": gamma64 gamma32 gamma chisquare beta f student_t noncentral_chisquare noncentral_f log_gamma;
    "random_counts": poisson binomial geometric negative_binomial zipf logseries hypergeometric;
    "random_orders": permutation shuffled_rows chosen multinomial multivariate_hypergeometric;
}

/// What `weft.random` knows by a name.
pub fn draw(name: &str) -> Option<&'static Draw> {
    DRAWS.iter().find(|draw| draw.row.name == name)
}

pub fn draws() -> &'static [Draw] {
    DRAWS
}
