//! Every module in `bad/*.weft` parses and is refused by the verifier with the message above it.

use weft_ir::text::parse;
use weft_ir::verify::verify;

const FILES: [(&str, &str); 4] = [
    ("scopes", include_str!("bad/scopes.weft")),
    ("structure", include_str!("bad/structure.weft")),
    ("types", include_str!("bad/types.weft")),
    ("kinds", include_str!("bad/kinds.weft")),
];

#[test]
fn bad_modules_are_refused() {
    let mut failures = Vec::new();
    for (name, text) in FILES {
        let cases: Vec<&str> = text.split("; error: ").skip(1).collect();
        assert!(cases.len() > 5);
        for case in cases {
            let (message, module) = case.split_once('\n').unwrap();
            let module = parse(module).unwrap_or_else(|e| panic!("{name}: {e} in\n{case}"));
            match verify(&module) {
                Ok(()) => failures.push(format!("{name}: accepted {case}")),
                Err(error) if error.to_string() == message => {}
                Err(error) => failures.push(format!("{name}: {error}, but it should be {case}")),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn errors_carry_the_statement_s_span() {
    let module = parse("host @f(%0: i64) {\n  if %0 @0:3..7 {\n  }\n}").unwrap();
    let error = verify(&module).unwrap_err();
    assert_eq!((error.span.start, error.span.end), (3, 7));
}
