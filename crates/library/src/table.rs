//! The table of NumPy's functions and methods that are texts: in which file each stands.

/// A function of NumPy's that is a text here: a `def` of the same name, without the module in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: &'static str,
    pub file: &'static str,
    /// The method of arrays by that name, where there is one.
    pub method: Option<Method>,
}

/// A method that is a text: the array is its first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// The `def`.
    pub text: &'static str,
    /// How many arguments behind the array are taken by position only.
    pub by_position: usize,
}

const fn function(file: &'static str, name: &'static str) -> Row {
    Row { name, file, method: None }
}

/// A function that is a method, too, which takes so many arguments by position only.
const fn method(file: &'static str, name: &'static str, by_position: usize) -> Row {
    function_and_method(file, name, name, by_position)
}

/// A function whose method does something else.
const fn function_and_method(file: &'static str, name: &'static str, text: &'static str, by_position: usize) -> Row {
    Row {
        name,
        file,
        method: Some(Method { text, by_position }),
    }
}

#[rustfmt::skip]
static ROWS: &[Row] = &[
    function("comparing", "allclose"),
    function("comparing", "array_equal"),
    function("comparing", "array_equiv"),
    method("cumulative", "cumprod", 0),
    method("cumulative", "cumsum", 0),
    function("cumulative", "diff"),
    function("cumulative", "ediff1d"),
    function("cumulative", "gradient"),
    function("cumulative", "interp"),
    function("cumulative", "trapezoid"),
    function("cumulative", "unwrap"),
    function("fourier", "fft.fft"),
    function("fourier", "fft.fft2"),
    function("fourier", "fft.fftfreq"),
    function("fourier", "fft.fftn"),
    function("fourier", "fft.fftshift"),
    function("fourier", "fft.hfft"),
    function("fourier", "fft.ifft"),
    function("fourier", "fft.ifft2"),
    function("fourier", "fft.ifftn"),
    function("fourier", "fft.ifftshift"),
    function("fourier", "fft.ihfft"),
    function("fourier", "fft.irfft"),
    function("fourier", "fft.irfft2"),
    function("fourier", "fft.irfftn"),
    function("fourier", "fft.rfft"),
    function("fourier", "fft.rfft2"),
    function("fourier", "fft.rfftfreq"),
    function("fourier", "fft.rfftn"),
    function("histograms", "bincount"),
    function("histograms", "histogram"),
    function("histograms", "histogram_bin_edges"),
    function_and_method("indexing", "compress", "_compress_of", 0),
    function("indexing", "extract"),
    function("indexing", "fill_diagonal"),
    function("indexing", "place"),
    method("indexing", "put", 2),
    function("indexing", "put_along_axis"),
    function("indexing", "ravel_multi_index"),
    method("indexing", "take", 1),
    function("indexing", "take_along_axis"),
    function("indexing", "unravel_index"),
    function("joining", "append"),
    function("joining", "array_split"),
    function("joining", "column_stack"),
    function("joining", "concatenate"),
    function("joining", "dsplit"),
    function("joining", "dstack"),
    function("joining", "hsplit"),
    function("joining", "hstack"),
    method("joining", "repeat", 1),
    function("joining", "split"),
    function("joining", "stack"),
    function("joining", "tile"),
    function("joining", "vsplit"),
    function("joining", "vstack"),
    function("linalg", "linalg.cholesky"),
    function("linalg", "linalg.cond"),
    function("linalg", "linalg.det"),
    function("linalg", "linalg.eig"),
    function("linalg", "linalg.eigh"),
    function("linalg", "linalg.eigvals"),
    function("linalg", "linalg.eigvalsh"),
    function("linalg", "linalg.inv"),
    function("linalg", "linalg.lstsq"),
    function("linalg", "linalg.matrix_power"),
    function("linalg", "linalg.matrix_rank"),
    function("linalg", "linalg.norm"),
    function("linalg", "linalg.pinv"),
    function("linalg", "linalg.qr"),
    function("linalg", "linalg.slogdet"),
    function("linalg", "linalg.solve"),
    function("linalg", "linalg.svd"),
    function("linalg", "linalg.svdvals"),
    function("matrices", "cross"),
    function("matrices", "diag"),
    function("matrices", "diagflat"),
    method("matrices", "diagonal", 0),
    function("matrices", "eye"),
    function("matrices", "identity"),
    function("matrices", "indices"),
    function("matrices", "inner"),
    function("matrices", "kron"),
    function("matrices", "meshgrid"),
    function("matrices", "outer"),
    method("matrices", "trace", 0),
    function("matrices", "tri"),
    function("matrices", "tril"),
    function("matrices", "tril_indices"),
    function("matrices", "triu"),
    function("matrices", "triu_indices"),
    function("matrices", "vander"),
    function("nans", "nanargmax"),
    function("nans", "nanargmin"),
    function("nans", "nancumprod"),
    function("nans", "nancumsum"),
    function("nans", "nanmax"),
    function("nans", "nanmean"),
    function("nans", "nanmedian"),
    function("nans", "nanmin"),
    function("nans", "nanpercentile"),
    function("nans", "nanprod"),
    function("nans", "nanquantile"),
    function("nans", "nanstd"),
    function("nans", "nansum"),
    function("nans", "nanvar"),
    function("polynomials", "polyadd"),
    function("polynomials", "polyder"),
    function("polynomials", "polydiv"),
    function("polynomials", "polyint"),
    function("polynomials", "polymul"),
    function("polynomials", "polysub"),
    function("polynomials", "polyval"),
    function("polynomials", "trim_zeros"),
    function("quantiles", "median"),
    function("quantiles", "percentile"),
    function("quantiles", "quantile"),
    function("reductions", "all"),
    function("reductions", "any"),
    function("reductions", "argmax"),
    function("reductions", "argmin"),
    function("reductions", "max"),
    function("reductions", "mean"),
    function("reductions", "min"),
    function("reductions", "prod"),
    function("reductions", "std"),
    function("reductions", "sum"),
    function("reductions", "var"),
    function("searching", "argwhere"),
    function("searching", "count_nonzero"),
    function("searching", "digitize"),
    function("searching", "flatnonzero"),
    method("searching", "nonzero", 0),
    method("searching", "searchsorted", 1),
    function("sets", "intersect1d"),
    function("sets", "isin"),
    function("sets", "setdiff1d"),
    function("sets", "setxor1d"),
    function("sets", "union1d"),
    function("sets", "unique"),
    function("shapes", "atleast_1d"),
    function("shapes", "atleast_2d"),
    function("shapes", "atleast_3d"),
    function("shapes", "broadcast_to"),
    function("shapes", "expand_dims"),
    function("shapes", "flip"),
    function("shapes", "fliplr"),
    function("shapes", "flipud"),
    function("shapes", "matrix_transpose"),
    function("shapes", "moveaxis"),
    function("shapes", "roll"),
    function("shapes", "rot90"),
    method("shapes", "squeeze", 0),
    method("shapes", "swapaxes", 2),
    function("signals", "convolve"),
    function("signals", "correlate"),
    method("sorting", "argpartition", 1),
    method("sorting", "argsort", 0),
    function_and_method("sorting", "partition", "_partition_in_place", 1),
    function_and_method("sorting", "sort", "_sort_in_place", 0),
    function("statistics", "average"),
    function("statistics", "corrcoef"),
    function("statistics", "cov"),
    function("statistics", "ptp"),
    function("windows", "bartlett"),
    function("windows", "blackman"),
    function("windows", "hamming"),
    function("windows", "hanning"),
    function("windows", "kaiser"),
];

impl Row {
    /// The name of its `def`.
    pub fn definition(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }
}

pub fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

pub fn rows() -> &'static [Row] {
    ROWS
}
