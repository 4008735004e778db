//! The table of functions of Python's own library that are texts: those of its module `random`.

use crate::table::Row;

macro_rules! functions {
    ($file:literal: $($name:ident)*) => {
        static RANDOM: &[Row] = &[$(Row { name: stringify!($name), file: $file, method: None },)*];
    };
}

functions! {
    "python_random": betavariate expovariate gammavariate gauss getrandbits lognormvariate normalvariate paretovariate randint random
        randrange seed shuffle triangular uniform vonmisesvariate weibullvariate
}

/// The function of Python's module `random` by a name.
pub fn random(name: &str) -> Option<&'static Row> {
    random_rows().iter().find(|row| row.name == name)
}

pub fn random_rows() -> &'static [Row] {
    RANDOM
}
