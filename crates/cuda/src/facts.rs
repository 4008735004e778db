//! Specialization: what the arguments of a launch let compiled code rely on.

use weft_ir::{Layout, ViewType};
use weft_runtime::{NARROW, ViewParam, Window, are_small};

use crate::emit::Facts;

const ALIGNED: u64 = 16;
/// Views up to this number are compared with one another without memory from the heap.
const MOST_VIEWS: usize = 32;

/// Finds the facts of one launch. `args` has the slots that `views` and `ints`, those of `int64`s, count; `threads` are those of the grid
/// along each axis, or a loop's points.
pub fn find(views: &[ViewParam], ints: &[u32], args: &[u64], threads: &[u64]) -> Facts {
    let mut facts = Facts {
        small: are_small(ints, args),
        narrow: threads.iter().all(|&n| n < NARROW),
        aligned: true,
        disjoint: views.len() <= MOST_VIEWS,
    };
    let mut spans = [Span::default(); MOST_VIEWS];
    for (i, view) in views.iter().enumerate() {
        let Some(window) = Window::of(view, args) else {
            return Facts::default();
        };
        facts.narrow &= window.is_narrow();
        facts.aligned &= is_aligned(&window, view.ty);
        if let Some(place) = spans.get_mut(i) {
            let (low, high) = window.span(view.ty).unwrap_or_default();
            *place = Span {
                low,
                high,
                written: view.written,
            };
        }
    }
    facts.disjoint &= are_disjoint(&spans[..views.len().min(MOST_VIEWS)]);
    facts
}

/// The bytes of a view's elements.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    low: u64,
    high: u64,
    written: bool,
}

fn are_disjoint(spans: &[Span]) -> bool {
    spans.iter().enumerate().all(|(i, a)| {
        let meets = |b: &Span| (a.written || b.written) && a.low < b.high && b.low < a.high;
        !spans[i + 1..].iter().any(meets)
    })
}

fn is_aligned(window: &Window<'_>, ty: ViewType) -> bool {
    let size = ty.elem.size() as u64;
    let dense = matches!(ty.layout, Layout::C | Layout::F) || size == 1;
    let whole = |&stride: &u64| (stride as i64).unsigned_abs().is_multiple_of(size);
    window.data.is_multiple_of(ALIGNED) && (dense || window.strides.iter().all(whole))
}

#[cfg(test)]
mod tests {
    use weft_ir::{Scalar, Space};

    use super::*;

    fn view(slot: u32, rank: u8, layout: Layout, written: bool) -> ViewParam {
        let ty = ViewType {
            elem: Scalar::F32,
            rank,
            layout,
            space: Space::Global,
            writable: written,
        };
        ViewParam { slot, ty, written }
    }

    fn line(slot: u32, written: bool) -> ViewParam {
        view(slot, 1, Layout::C, written)
    }

    #[test]
    fn ordinary_arrays_have_every_fact() {
        let facts = find(&[line(0, false), line(3, true)], &[], &[4096, 100, 4, 8192, 100, 4], &[128, 1, 1]);
        let all = Facts {
            narrow: true,
            aligned: true,
            disjoint: true,
            small: true,
        };
        assert_eq!(facts, all);
    }

    #[test]
    fn large_arrays_and_grids_are_wide() {
        let narrow = |n: u64, stride: u64, threads: u64| find(&[line(0, false)], &[], &[0, n, stride], &[threads]).narrow;
        assert!(narrow((1 << 30) - 1, 4, 1));
        assert!(!narrow(1 << 30, 4, 1));
        assert!(!narrow(2, 1 << 31, 1));
        assert!(narrow(2, -8i64 as u64, 1));
        assert!(!narrow(2, 4, 1 << 30));
        let matrix = [view(0, 2, Layout::C, false)];
        assert!(!find(&matrix, &[], &[0, 1 << 15, 1 << 15, 4 << 15, 4], &[1]).narrow);
        assert!(find(&matrix, &[], &[0, 1 << 15, (1 << 15) - 1, 4 << 15, 4], &[1]).narrow);
    }

    #[test]
    fn alignment_is_of_addresses_and_open_strides() {
        let aligned = |data, stride, layout| find(&[view(0, 1, layout, false)], &[], &[data, 10, stride], &[1]).aligned;
        assert!(aligned(32, 4, Layout::C));
        assert!(!aligned(36, 4, Layout::C));
        assert!(aligned(32, 12, Layout::Any));
        assert!(!aligned(32, 6, Layout::Any));
    }

    #[test]
    fn what_is_written_must_be_nobody_elses() {
        let disjoint = |views: &[ViewParam], args: &[u64]| find(views, &[], args, &[1]).disjoint;
        let overlapping = [4096, 100, 4, 4096 + 396, 100, 4];
        assert!(disjoint(&[line(0, false), line(3, false)], &overlapping));
        assert!(!disjoint(&[line(0, false), line(3, true)], &overlapping));
        assert!(disjoint(&[line(0, true), line(3, true)], &[4096, 99, 4, 4096 + 396, 100, 4]));
        let backwards = [4096 + 396, 100, -4i64 as u64, 4096, 1, 4];
        assert!(!disjoint(&[view(0, 1, Layout::Any, true), line(3, false)], &backwards));
        assert!(disjoint(&[line(0, true), line(3, true)], &[4096, 0, 4, 4096, 100, 4]));
    }

    #[test]
    fn more_views_than_are_compared_are_not_called_disjoint() {
        let views: Vec<ViewParam> = (0..33).map(|i| line(3 * i, true)).collect();
        let args: Vec<u64> = (0..33).flat_map(|i| [4096 * (i + 1), 10, 4]).collect();
        assert!(!find(&views, &[], &args, &[1]).disjoint);
        assert!(find(&views[..32], &[], &args, &[1]).disjoint);
    }

    #[test]
    fn small_ints_are_those_of_the_named_slots() {
        let small = |n: i64| find(&[], &[1], &[u64::MAX, n as u64], &[1]).small;
        assert!(small(0) && small(-5) && small(1 << 30) && small(-(1 << 30)));
        assert!(!small((1 << 30) + 1) && !small(i64::MIN) && !small(i64::MAX));
    }
}
