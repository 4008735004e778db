//! Work grows with the program: twice the text is twice the names looked up and twice the statements made, in good programs and in bad ones.

mod common;

use common::{World, host, weak};
use weft_front::Compiled;
use weft_ir::Scalar;

/// Names looked up, and statements made, for a program of size `n` whose entry is `f`. Whether it compiles does not matter.
fn work(program: fn(usize) -> String, n: usize) -> (usize, usize) {
    let world = World::new("growth.py", &program(n));
    let compiled = world.compile("f", &[weak(Scalar::I64)], host());
    (world.lookups.get(), compiled.map_or(0, |compiled| statements(&compiled)))
}

/// About one a line.
fn statements(compiled: &Compiled) -> usize {
    weft_ir::text::print(&compiled.module).lines().count()
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

/// `n` functions, each of which calls the one before as `body` says.
fn chain(n: usize, innermost: &str, body: impl Fn(usize) -> String) -> String {
    let inner = lines(n, |i| match i {
        0 => format!("def f0(x):\n    return {innermost}\n\n"),
        _ => format!("def f{i}(x):\n{}\n\n", body(i - 1)),
    });
    format!("{inner}def f(x):\n    return f{}(x)\n", n - 1)
}

/// A name, and the text of the program of a size.
type Program = (&'static str, fn(usize) -> String);

const PROGRAMS: &[Program] = &[
    ("calls in a chain", |n| {
        chain(n, "x + 1", |i| format!("    y = f{i}(x)\n    return y + 1"))
    }),
    ("two calls in each function", |n| {
        chain(n, "x + 1", |i| format!("    y = f{i}(x)\n    z = f{i}(y)\n    return y + z"))
    }),
    ("an error at the end of a chain", |n| {
        chain(n, "x + (1, 2)", |i| format!("    y = f{i}(x)\n    z = f{i}(x)\n    return y + z"))
    }),
    ("a name that is missing at the end of a chain", |n| {
        chain(n, "undefined", |i| format!("    y = f{i}(x)\n    z = f{i}(x)\n    return y + z"))
    }),
    ("types that take a second round in each function", |n| {
        chain(n, "x * 0.5", |i| {
            format!("    y = 0\n    for k in range(3):\n        y += f{i}(x)\n    return int(y)")
        })
    }),
    ("and", |n| {
        format!(
            "def f(x):\n    return {}\n",
            lines(10 * n, |i| format!("abs(x) > {i} and ")) + "x > 0"
        )
    }),
    ("or in a condition", |n| {
        format!(
            "def f(x):\n    if {}:\n        return 1\n    return 2\n",
            lines(10 * n, |i| format!("abs(x) == {i} or ")) + "x > 0"
        )
    }),
    ("if", |n| {
        format!(
            "def f(x):\n    s = 0\n{}    return s\n",
            lines(10 * n, |i| format!("    if x > {i}:\n        s += abs({i})\n"))
        )
    }),
    ("elif", |n| {
        let branches = lines(10 * n, |i| format!("    elif x == {i}:\n        s = abs({i})\n"));
        format!("def f(x):\n    if x < 0:\n        s = 0\n{branches}    else:\n        s = 1\n    return s\n")
    }),
    ("statements", |n| {
        format!(
            "def f(x):\n    s = 0\n{}    return s\n",
            lines(10 * n, |i| format!("    s = s * {i} + abs(x)\n"))
        )
    }),
    ("items of a tuple", |n| {
        format!("def f(x):\n    return ({})[x]\n", lines(10 * n, |i| format!("abs(x + {i}), ")))
    }),
];

#[test]
fn twice_the_program_is_twice_the_work() {
    for (name, program) in PROGRAMS {
        let (small, large) = (work(*program, 24), work(*program, 48));
        assert!(small.0 > 20, "{name}: {small:?}");
        // What is there once makes it less than twice.
        assert!(
            large.0 <= small.0 * 2 + 8 && large.1 <= small.1 * 2 + 8,
            "{name}: {small:?}, then {large:?}"
        );
    }
}

/// What follows costs branches times locals: a long chain of conditions keeps them all in one.
#[test]
fn long_chains_need_no_more_locals() {
    let locals = |program: fn(usize) -> String, n: usize| {
        let world = World::new("growth.py", &program(n));
        let compiled = world.compile("f", &[weak(Scalar::I64)], host()).expect("it compiles");
        compiled.module.functions.iter().map(|f| f.locals.len()).sum::<usize>()
    };
    let programs: [Program; 2] = [
        ("and", |n| {
            format!("def f(x):\n    return {}x > 0\n", lines(n, |i| format!("x % {} == 0 and ", i + 2)))
        }),
        ("or in a condition", |n| {
            let chain = lines(n, |i| format!("x % {} == 0 or ", i + 2));
            format!("def f(x):\n    if {chain}x > 0:\n        return 1\n    return 2\n")
        }),
    ];
    for (name, program) in programs {
        assert!(locals(program, 400) <= locals(program, 40) + 2, "{name}: {}", locals(program, 400));
    }
}

#[test]
fn what_is_nested_too_deeply_is_refused_at_once() {
    let programs: &[(&str, String)] = &[
        ("calls", chain(150, "x + 1", |i| format!("    y = f{i}(x)\n    return y + 1"))),
        ("unary operators", format!("def f(x):\n    return {}x\n", "-".repeat(1000))),
        ("sums", format!("def f(x):\n    return x{}\n", " + x".repeat(1000))),
        ("attributes", format!("def f(x):\n    return x{}\n", ".real".repeat(1000))),
        (
            "conditions",
            format!("def f(x):\n    return {}0\n", lines(1000, |i| format!("{i} if x == {i} else "))),
        ),
        (
            "tuples",
            format!("def f(x):\n    t = (x,)\n{}    return 1\n", "    t = (t,)\n".repeat(100)),
        ),
        (
            "tuples twice",
            format!("def f(x):\n    t = (x,)\n{}    return 1\n", "    t = (t, t)\n".repeat(60)),
        ),
        (
            "text",
            format!("def f(x):\n    t = 'a'\n{}    return 1\n", "    t = t + t\n".repeat(60)),
        ),
    ];
    for (name, text) in programs {
        let world = World::new("growth.py", text);
        let error = world.compile("f", &[weak(Scalar::I64)], host()).expect_err(name);
        assert_eq!(error.kind, weft_front::DiagnosticKind::Unsupported, "{name}: {}", error.message);
        // Two for each of the hundred functions that may call each other.
        assert!(world.lookups.get() < 250, "{name}: {} lookups", world.lookups.get());
    }
}
